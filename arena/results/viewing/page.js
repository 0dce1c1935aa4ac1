"use strict";
// Text of papers and models reaches the page through `el` alone, which adds it as text.
const $ = (id) => document.getElementById(id);
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const code = (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
const visible = (text) => String(text).replace(HIDDEN, code);
const short = (text, most = 160) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const words = (part) => (typeof part === "string" ? part : JSON.stringify(part) ?? "");  // of what an agent wrote
const list = (part) => (Array.isArray(part) ? part : []);
const count = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value != null && value !== false) node.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : visible(child));
    }
  }
  return node;
}
const show = (id, ...children) => $(id).replaceChildren(...children.flat().filter(Boolean));
const row = (...cells) => el("tr", {}, cells.flat().map((c) => (c instanceof HTMLTableCellElement ? c : el("td", {}, c))));
const head = (...names) => el("thead", {}, el("tr", {}, names.map((n, i) => el("th", { scope: "col", class: i ? null : "left" }, n))));
const rowHead = (...text) => el("th", { scope: "row" }, ...text);
const chip = (run) =>
  el("span", { class: `run c${run % 6}` }, el("span", { class: "key", "aria-hidden": "true" }, marks[run] ?? run + 1), el("bdi", {}, index.runs[run].name));

// The data: blocks are unpacked when something in them is shown.
const unpacked = new Map();
function unpack(name) {
  if (!unpacked.has(name)) {
    const bytes = Uint8Array.from(atob($(name).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    unpacked.set(name, new Response(stream).json());
  }
  return unpacked.get(name);
}
const texts = [], numbers = new Map();  // number -> text; id of a paper -> number
const QUOTED = /^"id":("(?:[^"\\]|\\.)*")/;
async function load(wanted) {
  const blocks = new Set();
  for (const number of wanted) {
    if (number in texts) continue;
    let block = index.texts.length - 1;
    while (index.texts[block] > number) block -= 1;
    blocks.add(block);
  }
  await Promise.all([...blocks].map(async (block) => {
    (await unpack(`t${block}`)).forEach((text, i) => {
      texts[index.texts[block] + i] = text;
      const id = QUOTED.exec(text);
      if (id) numbers.set(JSON.parse(id[1]), index.texts[block] + i);
    });
  }));
}
const loadAll = () => load(index.texts);
const numbersOf = (parts) => parts.filter((part) => typeof part === "number").map((part) => (part < 0 ? -part - 1 : part));
const part_ = (part) => (typeof part === "string" ? part : part < 0 ? QUOTED.exec(texts[-part - 1])[1] : texts[part]);
const build = (parts) => parts.map(part_).join("");  // as arena.results.viewing.packing packs them
const paperOf = (number) => JSON.parse(`{${texts[number]}}`);
const named = (id) => (numbers.has(id) ? paperOf(numbers.get(id)) : { id: words(id), title: "", date: "" });
async function read(parts) {
  await load(numbersOf(parts));
  return JSON.parse(build(parts));
}
async function topic(place) {
  const [, , , block, slot] = index.topics[place];
  return (await unpack(`e${block}`))[slot];  // references, and place of a run -> episode
}

// The funnel. Bit n of a mask: whether a reference reached stage n.
let index, marks, last, shown = Promise.resolve();
const turn = (draw) => (shown = shown.then(draw).catch(trouble));  // one after another
const lostAfter = (mask) => (mask >> last ? null : 31 - Math.clz32(mask));  // the last one reached
const stageName = (n) => {
  const depths = new Set(index.runs.map((run) => run.depth));
  return n === last && depths.size === 1 ? `within the first ${[...depths][0]}` : index.stages[n][1];
};
// The last stage is one only where a rank counts.
const stagesHere = () => index.stages.map((_, n) => n).filter((n) => n < last || index.runs.some((run) => run.depth !== null));
const isChosen = (place) => $("of-topic").value === "" || place === +$("of-topic").value;
const rivals = (runs) => (runs.some((run) => !index.runs[run].knows) ? runs.filter((run) => !index.runs[run].knows) : runs);  // no oracle
const topicsOf = (rows) => ($("of-topic").value === "" ? count(new Set(rows.map((each) => each[1])).size, "topic") : "this topic");
const followed = () => rivals([...new Set(index.episodes.map(([run]) => run))].sort((a, b) => a - b));
function drawFunnel() {
  const runs = index.runs.map(() => ({ reached: [], lost: [] }));
  for (const [run, place, , masks] of index.episodes) {
    if (!isChosen(place)) continue;
    for (const mask of masks) {
      for (let n = 0; n <= last; n += 1) runs[run].reached[n] = (runs[run].reached[n] ?? 0) + ((mask >> n) & 1);
      const lost = lostAfter(mask);
      if (lost !== null) runs[run].lost[lost] = (runs[run].lost[lost] ?? 0) + 1;
    }
  }
  const body = stagesHere().filter((n) => runs.some(({ reached }) => reached[n])).map((n) =>
    row(rowHead(stageName(n)), followed().map((run) => {
      const { reached, lost } = runs[run];
      const bar = el("i", { class: `bar c${run % 6}` });
      bar.style.width = `${(100 * (reached[n] ?? 0)) / (reached[0] || 1)}%`;
      const press = () => turn(() => listPapers(`Lost by ${index.runs[run].name} after: ${stageName(n)}`, (r, p, i, mask) => r === run && isChosen(p) && lostAfter(mask) === n));
      return el("td", { class: "stage" }, bar, el("b", {}, reached[n] ?? 0), lost[n] ? el("button", { onclick: press, class: "lost", "aria-label": `list the ${lost[n]} lost after it` }, `−${lost[n]}`) : null);
    })));
  show("funnel", el("div", { class: "wide", tabindex: 0 }, el("table", { class: "funnel ranks" }, head(`references listed by ${topicsOf(index.episodes)}`, ...followed().map(chip)), el("tbody", {}, body))));
  show("lost");
}
function drawTallies() {
  const sums = new Map();  // words -> run -> how many, and of how many
  for (const [run, place, rows] of index.tallies.filter((each) => isChosen(each[1]))) {
    for (const [words, n, of] of rows) {
      const own = sums.get(words) ?? sums.set(words, new Map()).get(words), [m, all] = own.get(run) ?? [0, 0];
      own.set(run, [m + n, all + of]);
    }
  }
  const runs = rivals([...new Set(index.tallies.map(([run]) => run))].sort((a, b) => a - b));
  const cell = (run, own) => {
    const [n, of] = own.get(run) ?? [0, 0], bar = el("i", { class: `bar c${run % 6}` });
    bar.style.width = `${(100 * n) / (of || 1)}%`;
    return el("td", { class: "stage" }, of ? [bar, el("b", {}, n), el("small", {}, ` of ${of.toLocaleString("en")}`)] : "-");
  };
  const rows = [...sums].filter(([, own]) => runs.some((run) => own.get(run)?.[0])).map(([words, own]) => row(rowHead(words), runs.map((run) => cell(run, own))));
  show("tallies", rows.length ? wide({ class: "funnel ranks" }, head(`sum over ${topicsOf(index.tallies)}`, ...runs.map(chip)), el("tbody", {}, rows)) : null);
}
async function drawMissed() {
  drawTallies();
  if ($("funnel")) drawFunnel();
  if ($("run-a")) drawDifference();
  const chosen = $("of-topic").value, place = chosen === "" && !$("funnel") ? 0 : chosen;
  current = place === "" ? null : await enter(+place);
  if (!current) return show("answered", el("p", { class: "none" }, "Choose a topic to see its answers."));
  const [id, title, , , , anchor] = index.topics[place];
  const ranked = current.runs.some((run) => current.all[run].ranks?.some(Boolean));
  show("answered", el("h3", {}, el("a", { href: `#${anchor}` }, el("bdi", {}, short(title || id, 300)))), chosen === "" && el("p", { class: "none" }, "Choose another topic above."), ranked ? referenceTable(2) : null, await drawAnswers());
}
async function listPapers(title, fits) {
  const found = [];
  for (const [run, place, , masks] of index.episodes) {
    masks.forEach((mask, i) => fits(run, place, i, mask) && found.push([run, place, i]));
  }
  const rows = [];
  for (const [run, place, i] of found.slice(0, 200)) {
    const [refs, own] = await topic(place);
    const [number, gain, status] = refs[i];
    const [, rank, query] = own[run].wanted[i], submitted = own[run].ranks[i];
    await load([number]);
    const best = rank ? [`rank ${rank} for the query of `, stepLink(run, place, query)] : query === null && gain ? "no query finds it" : "";
    rows.push(row(rowHead(title_(paperOf(number), gain)), el("td", { class: "left" }, gain ? best : status.replaceAll("_", " ")), submitted || "-", el("td", { class: "left" }, stepLink(run, place, 1, short(index.topics[place][1], 60)))));
  }
  show("lost", el("h3", { tabindex: -1 }, `${title} (${found.length})`), starLegend(), el("div", { class: "wide", tabindex: 0 }, el("table", {}, head("paper", "found", "rank in the answer", "topic"), el("tbody", {}, rows))), found.length > 200 && el("p", { class: "more" }, `and ${found.length - 200} more: choose a topic`));
  $("lost").firstChild.focus();
}
function drawDifference() {
  const [a, b] = [+$("run-a").value, +$("run-b").value];
  const masks = new Map([a, b].map((of) => [of, new Map(index.episodes.filter(([run]) => run === of).map((e) => [e[1], e[3]]))]));
  const counted = (run, place, i) => masks.get(run).has(place) && lostAfter(masks.get(run).get(place)[i]) === null;
  const fits = (by, against, n) => (run, place, i, mask) => run === against && isChosen(place) && lostAfter(mask) === n && counted(by, place, i);
  const episodes = (fit) => index.episodes.reduce((sum, [run, place, , own]) => sum + own.filter((mask, i) => fit(run, place, i, mask)).length, 0);
  const cell = (by, against, n) => {
    const fit = fits(by, against, n), number = episodes(fit);
    return number ? el("button", { onclick: () => turn(() => listPapers(`Found by ${index.runs[by].name}, lost by ${index.runs[against].name} after: ${stageName(n)}`, fit)) }, number) : "0";
  };
  const rows = stagesHere().slice(0, -1).map((n) => row(rowHead(stageName(n)), cell(a, b, n), cell(b, a, n))).filter((each) => each.querySelector("button"));
  show("difference", !rows.length ? el("p", { class: "none" }, "Neither counts a paper that the other lost.") : el("div", { class: "wide", tabindex: 0 }, el("table", {}, head("lost by the other run after", el("span", {}, "only ", chip(a)), el("span", {}, "only ", chip(b))), el("tbody", {}, rows))));
}

// The list of topics: the filter keeps those whose line or id has every word of it.
function filterTopics() {
  const sought = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll(".sortable tbody tr")];
  for (const each of rows) {
    const text = `${each.textContent} ${each.querySelector("bdi").title}`.toLowerCase();
    each.hidden = !sought.every((word) => text.includes(word));
  }
  $("kept").textContent = sought.length ? `${rows.filter((each) => !each.hidden).length} of ${rows.length}` : "";
}
function sortBy(heading) {  // what is unknown stays at the end
  const body = heading.closest("table").tBodies[0], at = heading.cellIndex;
  const down = heading.getAttribute("aria-sort") !== "descending";
  heading.parentNode.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (each) => each.cells[at].textContent;
  const number = (each) => parseFloat(value(each).replaceAll(",", ""));
  const isText = at === 0 || [...body.rows].some((each) => /^\d+-/.test(value(each)));
  const order = (a, b) => {
    if (isText) return value(b).localeCompare(value(a));
    const [x, y] = [number(a), number(b)];
    if (isNaN(x) || isNaN(y)) return (isNaN(x) - isNaN(y)) * (down ? 1 : -1);
    return y - x;
  };
  body.append(...[...body.rows].sort((a, b) => (down ? order(a, b) : order(b, a))));
}

// Search in all steps.
const address = (run, place, step) => `#e/${[index.runs[run].name, index.topics[place][0], step].map(encodeURIComponent).join("/")}`;
const stepLink = (run, place, step, text = `step ${step}`) => el("a", { href: address(run, place, step) }, el("bdi", {}, text));
async function search(event) {
  event.preventDefault();
  const sought = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const tool = $("tool").value, refused = $("refused").checked;
  show("hits");
  await loadAll();
  const within = sought.map((word) => new Set(texts.flatMap((text, n) => (text.toLowerCase().includes(word) ? [n] : []))));
  const has = (parts, word, i) => parts.some((part) => (typeof part === "string" ? part.toLowerCase().includes(word) : numbersOf([part]).some((n) => within[i].has(n))));
  let found = 0;
  for (const [place] of index.topics.entries()) {
    for (const [run, episode] of Object.entries((await topic(place))[1]).filter(([, each]) => each.a)) {
      episode.a.forEach((action, n) => {
        const result = episode.o[n + 1];
        if ((refused && !isRefused(result)) || (tool && !String(action[0]).includes(`"${tool}"`))) return;
        const said = JSON.stringify((episode.said[n + 1] ?? []).map(([text]) => text)).toLowerCase();
        if (!sought.every((word, i) => has(action, word, i) || has(result, word, i) || said.includes(word))) return;
        found += 1;
        if (found > 200) return;
        const link = stepLink(+run, place, n + 1, `${short(index.topics[place][1], 60)}, step ${n + 1}: ${summary(action)}`);
        $("hits").append(el("li", {}, chip(+run), " ", link));
      });
    }
    $("found").textContent = `${count(found, "step")}${found > 200 ? ", the first 200 below" : ""}`;
  }
}
function summary(action) {  // of an action whose texts are loaded
  const value = JSON.parse(build(action));
  const given = value?.arguments ?? {};
  const papers = given.paper_ids ? count(list(given.paper_ids).length, "paper") : given.paper_id && (named(given.paper_id).title || given.paper_id);
  const queries = given.queries && list(given.queries).map(words).join(" | ");
  return short(`${words(value?.tool ?? "malformed")} ${words(given.query ?? queries ?? papers ?? given.heading ?? "")}`, 110);
}


// Papers.
let current = null;
function title_(paper, gain) {
  const open = () => openPaper(paper.id);
  const star = gain ? el("b", { class: "star", title: gain > 1 ? "wanted, influential" : "wanted" }, gain > 1 ? "★ " : "☆ ") : null;
  return el("button", { class: "paper", onclick: open }, star, el("bdi", {}, short(paper.title || paper.id, 200)));
}
const gainOf = (id) => current?.gold.get(id)?.[1] ?? 0;
function addressOf(id) {
  if (/^(arxiv:)?(\d{4}\.\d{4,5}|[a-z-]+\/\d{7})$/i.test(id)) return `https://arxiv.org/abs/${id.replace(/^arxiv:/i, "")}`;
  return /^(doi:)?10\.\d{4,9}\//i.test(id) ? `https://doi.org/${encodeURI(id.replace(/^doi:/i, ""))}` : null;
}
async function openPaper(id) {
  await loadAll();
  const paper = named(id), place = current?.gold.get(id)?.[0];
  const link = addressOf(id);
  const facts = [paper.date, link ? el("a", { href: link, rel: "noreferrer" }, id) : id];
  const about = [el("p", {}, facts.flatMap((fact) => (fact ? [fact, " "] : [])))];
  if (place !== undefined) {
    const [, gain, status, text] = current.refs[place];
    about.push(el("p", {}, gain > 1 ? "Wanted, influential." : gain ? "Wanted." : `Cited, not in reach: ${status.replaceAll("_", " ")}.`));
    about.push(el("ul", {}, Object.entries(current.all).map(([run, { wanted, ranks }]) => {
      const [mask, rank] = wanted?.[place] ?? [null, null], submitted = ranks[place];
      const lost = mask === null ? null : lostAfter(mask);
      return el("li", {}, chip(+run), `: ${lost === null ? (submitted === null ? "missed" : "found") : `lost after: ${stageName(lost)}`}${rank ? `; best rank of a query: ${rank}` : ""}${submitted ? `; rank in the answer: ${submitted}` : ""}`);
    })));
    if (text !== null) about.push(el("p", { class: "text" }, JSON.parse(texts[text])));
  }
  show("h-paper", el("bdi", {}, paper.title || id));
  show("about", about);
  $("paper").showModal();
}
const listing = (papers, fresh = new Set()) => el("ol", { class: "papers" }, few(papers.map((paper) => el("li", { class: fresh.has(paper.id) ? "fresh" : null }, title_(paper, gainOf(paper.id)), " ", el("time", {}, paper.date), paper.score === undefined ? null : el("small", {}, ` ${paper.score}`)))));

// Parts of answers, calls and results.
const wide = (properties, ...children) => el("div", { class: "wide", tabindex: 0 }, el("table", properties, ...children));
const plain = (part) => el("div", { class: "text" }, words(part));
const columns = (parts) => el("div", { class: "columns" }, parts);
function few(items, most = 10) {  // the first ones, and a button for the others
  if (items.length < most + 3) return items;
  const rest = items.slice(most), stars = rest.filter((each) => each.querySelector(".star")).length;
  const press = ({ target }) => (target.closest("li, tr").replaceWith(...rest), rest[0].querySelector("button, a, summary")?.focus());
  const button = el("button", { onclick: press }, `${rest.length} more${stars ? `, ${stars} of them wanted` : ""}`);
  const isRow = rest[0].tagName === "TR";
  return [...items.slice(0, most), isRow ? row(el("th", { class: "left", colspan: rest[0].cells.length }, button)) : el("li", { class: "more" }, button)];
}
function values(object, entry) {
  return el("dl", {}, Object.entries(object).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, [entry(name, value)].flat())]));
}
function table(value, depth = 0) {  // any JSON
  const isObject = (part) => part !== null && typeof part === "object" && !Array.isArray(part);
  if (depth > 4 || value === null || typeof value !== "object") return plain(value);
  if (isObject(value) && Object.keys(value).length > 12) return wide({}, el("tbody", {}, few(Object.entries(value).map(([name, part]) => row(rowHead(name), el("td", { class: "left" }, table(part, depth + 1)))))));
  if (isObject(value)) return Object.keys(value).length ? values(value, (_, part) => table(part, depth + 1)) : "{}";
  const names = value.every(isObject) ? [...new Set(value.flatMap(Object.keys))] : [];
  if (!names.length || names.length > 8) return value.length ? el("ol", {}, few(value.map((part) => el("li", {}, table(part, depth + 1))))) : "[]";
  const rows = value.map((part) => row(names.map((name) => el("td", { class: "left" }, Object.hasOwn(part, name) ? table(part[name], depth + 1) : ""))));
  return wide({}, el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col", class: "left" }, name)))), el("tbody", {}, few(rows)));
}
const SIGNS = { "+": ["good", "✓ "], "!": ["bad", "! "] };
function cited(text, marks = {}) {  // a report: its headings, and its citations as buttons with their titles
  const parts = text.split(/(@\{[^}]{0,300}\}|@[^\s;,\[\]{}]{0,300}[^\s;,\[\]{}@.:?!])/);
  return el("div", { class: "text" }, parts.flatMap((part, i) => {
    if (i % 2 === 0) return part.split(/^(#{1,6} .*)$/m).map((each, n) => (n % 2 ? el("strong", {}, each.replace(/^#+ /, "")) : each));
    const id = part.replace(/^@\{?|\}$/g, ""), [sign, why] = Object.hasOwn(marks, id) ? marks[id] : ["", ""];
    const kind = SIGNS[sign] ?? ["", ""], title = named(id).title;
    return [el("button", { class: `paper ${kind[0]}`, title: [id, title, why].filter(Boolean).join(": "), onclick: () => openPaper(id) }, kind[1], el("bdi", {}, title ? short(title, 48) : part))];
  }));
}
const VERDICTS = { mismatch: ["bad", "not supported"], not_found: ["bad", "no evidence"], false: ["bad", "held false"], tie: ["", "undecided"], failed: ["", "no verdict"], unreachable: ["", "not read"], match: ["good", "supported"], true: ["good", "held true"] };
function statements(verdicts) {  // the doubtful ones first
  const order = Object.keys(VERDICTS), place = (each) => order.indexOf(each[1]);
  const rows = [...verdicts].sort((a, b) => place(a) - place(b)).map(([statement, outcome, paper, why]) => {
    const [kind, said] = Object.hasOwn(VERDICTS, outcome) ? VERDICTS[outcome] : ["", outcome];
    return row(el("td", { class: "left" }, el("span", { class: kind }, said)), el("td", { class: "left" }, statement, why && el("small", {}, ` ${why}`)), el("td", { class: "left" }, paper && title_(named(paper), gainOf(paper))));
  });
  return wide({ class: "verdicts" }, el("caption", {}, "Statements of the report, as a judge read them, the doubtful ones first"), el("thead", {}, row(["verdict", "statement", "cited paper"].map((n) => el("th", { scope: "col", class: "left" }, n)))), el("tbody", {}, few(rows)));
}
function problems(marks) {  // how many citations are of each kind
  const kinds = new Map();
  for (const [sign, why] of Object.values(marks)) kinds.set(why, [sign, (kinds.get(why)?.[1] ?? 0) + 1]);
  return el("p", { class: "legend" }, "Cited papers: ", kinds.size ? [...kinds].flatMap(([why, [sign, n]], i) => [i ? ", " : "", el("span", { class: SIGNS[sign]?.[0] }, `${SIGNS[sign]?.[1] ?? ""}${n} ${why}`)]) : "none");
}
function signsOf(node) {  // of all papers below a heading, as the kind of answer draws them
  return [...list(node?.papers).map((each) => (Array.isArray(each) ? each[1] : "")), ...list(node?.children).flatMap(signsOf)];
}
function share(node) {  // a bar of what both maps file alike, elsewhere, and what only one has
  const signs = signsOf(node), of = (sign) => signs.filter((each) => each === sign).length;
  if (!signs.some(Boolean)) return null;
  const words = `${of("=")} alike, ${of("!")} elsewhere, ${of("")} only here`;
  return el("span", { class: "share", role: "img", "aria-label": words, title: words }, ["=", "!"].map((sign) => el("i", { class: sign === "=" ? "alike" : "else", style: `width: ${(100 * of(sign)) / signs.length}%` })));
}
function tree(node) {
  const papers = list(node?.papers).map((each) => (Array.isArray(each) ? each : [each, ""])), below = list(node?.children);
  const label = [el("bdi", { class: node?.match ? "good" : null }, words(node?.label || "(no heading)")), node?.match ? el("b", { class: "hit" }, ` =${node.match}`) : null, share(node)];
  const listed = papers.map(([id, sign, place]) => el("li", { class: { "=": "good", "!": "bad" }[sign] }, title_(named(id), 0), sign === "!" && place !== undefined ? el("small", {}, " other map: ", el("bdi", {}, place)) : null));
  return el("li", {}, listed.length ? el("details", {}, el("summary", {}, label, el("small", {}, ` ${count(listed.length, "paper")}`)), el("ul", {}, few(listed))) : label, below.length ? el("ul", {}, below.map(tree)) : null);
}
function agreement(root) {
  const all = [], walk = (node) => (all.push(node), node.children.forEach(walk));
  walk(root);
  const signs = signsOf(root), of = (sign) => signs.filter((each) => each === sign).length;
  return el("p", { class: "legend" }, `${all.slice(1).filter((node) => node.match).length} of ${count(all.length - 1, "heading")} match (the same = in both); `, signs.length ? el("span", { class: "good" }, `${count(of("="), "paper")} under a matching heading`) : "no papers are filed", signs.length ? [", ", el("span", { class: "bad" }, `${of("!")} elsewhere`), `, ${of("")} only here`] : null);
}
async function drawAnswer(parts) {  // as the kind of answer has it
  const { form, value, cited: marks, verdicts } = await read(parts);
  if (form === "ranking") return listing(value.map(named));
  if (form === "text") return [Object.keys(marks).length ? problems(marks) : null, el("div", { class: "reading", tabindex: 0 }, cited(value, marks)), verdicts && statements(verdicts)];
  if (form === "trees") return el("div", { class: "two" }, value.map(([name, root]) => el("section", {}, el("h4", {}, name), value.length > 1 && agreement(root), el("ul", { class: "tree" }, tree(root)))));
  return table(value);
}
function result(value, fresh) {
  if (Array.isArray(value.lists)) return value.lists.flatMap((each) => result(each, fresh));
  const isList = ([, part]) => Array.isArray(part) && part[0]?.id !== undefined;
  const all = Object.entries(value), lists = all.filter(isList), rest = all.filter((entry) => !isList(entry));
  return [
    rest.length ? values(Object.fromEntries(rest), (_, part) => table(part)) : null,
    lists.map(([name, papers]) => [el("h4", {}, `${papers.length} ${name}`), listing(papers, fresh)]),
  ].flat(2);
}
function argument(name, part) {  // of a call
  if (name === "paper_ids" && Array.isArray(part)) return listing(part.map(named));
  if (name === "paper_id" && numbers.has(part)) return title_(named(part), gainOf(part));
  if (name === "mind_map" && part?.label !== undefined) return el("ul", { class: "tree" }, tree(part));
  return name === "text" ? cited(words(part)) : table(part);
}
function exact(text, name = "exact JSON; scores have four digits") {
  const pre = el("pre");
  return el("details", { ontoggle: () => (pre.textContent = visible(text)) }, el("summary", {}, name), pre);
}
function written(part) {  // by a model or in a prompt: JSON, fenced or not, as a table above the text as it was
  const json = typeof part === "string" ? part.replace(/^\s*```(json)?\s|```\s*$/g, "") : "", short = json.length < 10 ** 5;
  const value = typeof part === "string" ? short && attempt(() => JSON.parse(json), null) : part;
  if (!value || typeof value !== "object") return [plain(part)];
  return [el("div", {}, table(value)), json && exact(part, "as it was written")];
}
const calls = (all) => list(all).flatMap((each) => [el("p", { class: "call" }, el("code", {}, words(each?.function?.name))), written(each?.function?.arguments ?? "")].flat());

// A topic: the answers of all runs side by side.
const starLegend = () => el("p", { class: "legend" }, el("b", { class: "star" }, "☆"), " a reference in reach, which is wanted; ", el("b", { class: "star" }, "★"), " an influential one");
async function enter(place) {
  const [refs, all] = await topic(place);
  await load(refs.flatMap(([number, , , text]) => (text === null ? [number] : [number, text])));
  const gold = new Map(refs.map((ref, i) => [paperOf(ref[0]).id, [i, ref[1]]]));
  return { place, refs, all, gold, runs: Object.keys(all).map(Number) };
}
function queriesOf(run) {
  const { a, o, w } = current.all[run];
  return a.flatMap((action, n) => {
    const given = JSON.parse(build(action))?.arguments, asked = given?.query ?? given?.queries;
    if (asked === undefined || asked === null) return [];
    const text = Array.isArray(asked) ? asked.map(words).join(" | ") : words(asked);
    const said = isRefused(o[n + 1]) ? "refused" : w && count(w[n + 1].length, "new reference");
    const link = stepLink(run, current.place, n + 1), about = el("small", {}, " ", link, said && `: ${said}`);
    const quoted = (part) => el("q", {}, el("bdi", {}, part));
    return [el("li", {}, text.length > 80 ? el("details", {}, el("summary", {}, quoted(short(text, 80)), about), quoted(text)) : [quoted(text), about])];
  });
}
function referenceTable(least = 1) {  // of references with this gain or more
  const { refs, all, runs } = current, missed = 10 ** 9;
  const rank = (run, i) => all[run].ranks[i], best = (i) => Math.min(...rivals(runs).map((run) => rank(run, i) ?? missed));
  const order = refs.map((_, i) => i).filter((i) => refs[i][1] >= least).sort((i, j) => refs[j][1] - refs[i][1] || best(i) - best(j));
  const cell = (n) => el("td", { class: n === null ? null : n <= 10 ? "near" : n <= 100 ? "mid" : "far" }, n === null ? "–" : n || "✓");
  const rows = order.map((i) => el("tr", { class: best(i) === missed ? "missed" : null }, rowHead(title_(paperOf(refs[i][0]), refs[i][1])), rivals(runs).map((run) => cell(rank(run, i)))));
  const found = row(rowHead("found"), rivals(runs).map((run) => `${order.filter((i) => rank(run, i) !== null).length} of ${order.length}`));
  if (!order.length) return [];
  return [el("h3", {}, least > 1 ? "Ranks of the influential references" : "References found and missed"), starLegend(), wide({ class: "gold ranks" }, el("caption", {}, "The rank at which each run submitted or first cited each of them, dark up to 10 and light up to 100; – is missed."), head("paper", ...rivals(runs).map(chip)), el("tbody", {}, few(rows, least > 1 ? 15 : 40)), el("tfoot", {}, found))];
}
async function drawAnswers() {  // of the current topic, without those that copy its labels
  const { all, runs } = current, parts = [];
  for (const [stage, noun] of new Map(runs.flatMap((run) => all[run].answers.map((each) => [each[0], each[1]])))) {
    parts.push(el("h3", {}, `Answers: ${noun}s`));
    const drawn = [];
    for (const run of rivals(runs)) {
      const answer = all[run].answers.find((each) => each[0] === stage);
      drawn.push(el("section", {}, el("h4", {}, chip(run)), answer ? await drawAnswer(answer[2]).catch(undrawn("answer", answer[2])) : el("p", { class: "none" }, "nothing")));
    }
    parts.push(...(drawn.some((each) => each.querySelector(".tree, .text")) ? drawn : [columns(drawn)]));
  }
  return parts;
}
async function showTopic(place) {
  current = await enter(place);
  const { all, runs } = current, [id, title, date] = index.topics[place], played = runs.filter((run) => all[run].a);
  await load(played.flatMap((run) => all[run].a.flatMap(numbersOf)));
  const names = [...new Set(runs.flatMap((run) => Object.keys(all[run].metrics ?? {})))];
  const zeros = names.filter((name) => runs.every((run) => all[run].metrics?.[name] === 0));
  const rows = names.filter((name) => !zeros.includes(name)).map((name) => row(rowHead(name), runs.map((run) => all[run].metrics[name]?.toFixed(4) ?? "-")));
  const spent = (run, name) => all[run].b?.slice(1).reduce((sum, step) => sum + step[index.runs[run].budget.indexOf(name)], 0);
  for (const name of index.runs[played[0]]?.budget ?? []) {
    if (played.some((run) => spent(run, name))) rows.push(row(rowHead(name), runs.map((run) => spent(run, name)?.toLocaleString("en") ?? "-")));
  }
  const parts = [
    el("p", {}, el("a", { href: "#episodes" }, "← all topics")),
    el("h2", { id: "h-topic" }, el("bdi", {}, short(title || id, 300)), el("small", {}, ` ${id}, ${date}`)),
    wide({ class: "scored ranks" }, head("", ...runs.map((run) => (all[run].a ? el("a", { href: address(run, place, 1), title: "open the episode" }, chip(run)) : chip(run)))), el("tbody", {}, rows)),
    zeros.length ? el("p", { class: "more" }, `0 in every run: ${zeros.join(", ")}`) : null,
  ];
  if (runs.some((run) => all[run].ranks?.some(Boolean))) parts.push(...referenceTable());
  parts.push(...(await drawAnswers()));
  const sent = played.map((run) => [run, queriesOf(run)]).filter(([, queries]) => queries.length);
  if (sent.length) parts.push(el("h3", {}, "Queries sent"), columns(sent.map(([run, queries]) => el("section", {}, el("h4", {}, chip(run)), el("ol", {}, few(queries))))));
  const beside = el("div", { class: "wide", tabindex: 0, id: "beside" });
  parts.push(el("details", { id: "aligned", ontoggle: ({ target }) => target.open && showAligned(beside).catch(trouble) }, el("summary", {}, el("h3", {}, "All steps side by side")), beside));
  show("topic", parts.flat(2));
}
const isRefused = (parts) => String(parts[0]).startsWith('{"error"');
async function showAligned(into) {
  const { all, place, runs } = current, rows = [];  // each: key, and run -> number of its step
  const places = runs.filter((run) => all[run].a);
  for (const run of places) {
    merge(rows, all[run].a.map((action) => {
      const text = build(action), { tool, arguments: given } = JSON.parse(text) ?? {};
      return given?.query ?? given?.paper_id ? words([tool, given.query ?? given.paper_id]) : text;
    }), run);
  }
  const split = rows.findIndex(({ at }) => places.some((run) => at[run] === undefined));
  const cell = (run, n) => {
    if (n === undefined) return el("td", { class: "left" }, "");
    const found = all[run].w?.[n].length;
    return el("td", { class: "left" }, stepLink(run, place, n, `${n}. ${summary(all[run].a[n - 1])}`), found ? el("b", { class: "hit", title: "wanted papers shown first by this step" }, ` +${found}`) : null, isRefused(all[run].o[n]) && el("small", {}, " refused"));
  };
  const body = rows.flatMap(({ at }, i) => {
    const mark = places.length > 1 && i === split ? el("tr", { class: "split" }, el("th", { colspan: places.length, scope: "rowgroup" }, "Here the runs first differ")) : null;
    return [mark, el("tr", {}, places.map((run) => cell(run, at[run])))];
  });
  into.replaceChildren(el("table", { class: "beside" }, el("thead", {}, el("tr", {}, places.map((run) => el("th", { scope: "col", class: "left" }, chip(run))))), el("tbody", {}, body)));
}
function merge(rows, keys, run) {  // along a longest common subsequence
  const n = rows.length, m = keys.length;
  const longest = Array.from({ length: n + 1 }, () => new Uint32Array(m + 1));
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let j = m - 1; j >= 0; j -= 1) {
      longest[i][j] = rows[i].key === keys[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const merged = [];
  for (let i = 0, j = 0; i < n || j < m; ) {
    if (i < n && j < m && rows[i].key === keys[j]) merged.push({ ...rows[i], at: { ...rows[i++].at, [run]: ++j } });
    else if (j >= m || (i < n && longest[i + 1][j] >= longest[i][j + 1])) merged.push(rows[i++]);
    else merged.push({ key: keys[j], at: { [run]: ++j } });
  }
  rows.splice(0, n, ...merged);
}

// An episode: one column of time.
const grows = ({ w }) => w?.slice(1).some((fresh) => fresh.length) ?? false;  // whether any step shows a wanted paper first
const total = () => current.refs.filter((ref) => ref[1]).length;
function prompted(n, place) {  // what an answer's prompt adds to the one before, and the messages that it has in common
  const { own, run, place: at } = current, [same] = own.said[n][place][4];
  const title = el("summary", {}, same ? "What was added to the prompt" : "The prompt");
  const draw = ({ role, content, tool_calls: made }) => [el("h4", {}, words(role)), typeof content === "number" ? el("p", {}, stepLink(run, at, content || 1, content ? `the result of step ${content}` : "the first observation")) : content && written(content), calls(made)].flat();
  return el("details", { class: "prompt", ontoggle: async ({ target }) => {
    let messages = [];
    for (const step of Object.keys(own.said).map(Number).filter((step) => step <= n)) {
      for (const [kept, parts] of own.said[step].slice(0, step < n ? undefined : place + 1).map((each) => each[4])) {
        if (parts) messages = [...messages.slice(0, kept), ...(await read(parts))];
      }
    }
    const before = messages.splice(0, same).flatMap(draw);
    target.replaceChildren(title, ...[before.length && el("details", {}, el("summary", {}, count(same, "earlier message")), before), ...messages.flatMap(draw)].filter(Boolean));
  } }, title);
}
function budget(n) {
  const [start, ...spent] = current.own.b;
  const left = start.map((all, i) => all - spent.slice(0, n).reduce((sum, step) => sum + step[i], 0));
  const names = index.runs[current.run].budget;
  return el("p", { class: "budget more" }, "Left: ", names.map((name, i) => `${left[i].toLocaleString("en")} ${name}${spent[n - 1][i] ? ` (−${spent[n - 1][i].toLocaleString("en")})` : ""}`).join(", "));
}
async function drawStep(n) {
  const { own, refs } = current, parts = [];
  for (const [i, [text, made, prompt, completion, begin, asker, kind, why]] of (own.said[n] ?? []).entries()) {
    if (begin.length) parts.push(prompted(n, i));
    const made_ = calls(made);
    parts.push(el("h4", {}, `The model answered${asker && ` (${asker})`}`), text ? el("div", { class: "said" }, written(text)) : null, made_.length ? el("details", {}, el("summary", {}, `${count(made.length, "tool call")}, as written`), made_) : null, el("p", { class: "more" }, `${prompt ?? "?"} tokens read, ${completion ?? "?"} written`), kind && el("p", { class: "labels" }, `${own.said[n][i + 1]?.[5] === asker ? "Asked again" : "Not used"}, ${kind}: ${why}`));
  }
  if (n > current.steps) return [...parts, ...(await drawEnd())];
  const action = await read(own.a[n - 1]), given = action?.arguments, isCall = given && typeof given === "object";
  const after = await read(own.o[n]), fresh = new Set((own.w?.[n] ?? []).map((i) => paperOf(refs[i][0]).id));
  parts.push(el("p", { class: "call" }, el("code", {}, isCall ? words(action.tool) : "not a call"), el("small", {}, ` stage ${own.s[n - 1]}`)), isCall ? values(given, argument) : el("div", {}, written(action)));
  parts.push(el("h4", {}, "What came back"), after.error ? el("p", { class: "labels" }, `Refused: ${words(after.error)}`) : result(after, fresh), exact(build(own.o[n])));
  if (own.w) {
    const terms = Object.entries(own.t[n]).map(([name, value]) => `${name} ${value.toFixed(4)}`).join(", ");
    const worth = own.credit?.[n - 1] && el("p", {}, `Credit: ${credited(own.credit[n - 1])}.`);
    parts.push(worth, el("p", {}, "Reward ", el("b", {}, own.r[n].toFixed(4)), terms && ` (${terms})`, grows(own) && `; ${own.w.slice(0, n + 1).flat().length} of ${total()} wanted papers shown so far, ${own.w[n].length} of them by this step`, "."));
  }
  if (own.later?.[n]) {
    const [later, hits] = own.later[n];
    await load(later);
    parts.push(el("div", { class: "later" }, el("h4", {}, "Did not exist yet"), el("p", {}, `Without the cutoff, ${hits} of the hits would be later papers:`), listing(later.map(paperOf))));
  }
  return [...parts, budget(n)];
}
function numbered(object, draw) {  // what is 0 is only named
  const zeros = Object.keys(object).filter((name) => object[name] === 0), others = Object.entries(object).filter(([, value]) => value !== 0);
  return [values(Object.fromEntries(others), (_, value) => (value === null ? "-" : draw(value))), zeros.length ? el("p", { class: "more" }, `0: ${zeros.join(", ")}`) : null];
}
async function drawEnd() {
  const { own } = current, parts = [el("p", {}, `The episode was ${own.end}.`)];
  if (!index.labels) parts.push(el("p", {}, "The page has no labels, and so no scores."));
  if (own.metrics) parts.push(...numbered(own.metrics, (value) => value.toFixed(4)));
  for (const [stage, , answer] of own.answers) parts.push(el("h4", {}, `Answer, ${stage}`), await drawAnswer(answer).catch(undrawn("answer", answer)));
  if (Object.keys(own.usage).length) parts.push(el("h4", {}, "Language model"), ...numbered(own.usage, table));
  return parts;
}
const CREDITS = ["shapley", "headline, script", "headline, played"];
function marksLegend() {
  const { credit } = current.own;
  return (grows(current.own) || credit) && el("p", { class: "legend" }, el("b", { class: "hit" }, "+1"), " wanted papers that a step was the first to show, ", el("span", { class: "fresh" }, "marked"), " in its result", credit && [creditBar(1), " the credit of a step, of the largest"]);
}
const credited = (values) => CREDITS.map((name, i) => (values[i] == null ? null : `${name} ${values[i].toFixed(4)}`)).filter(Boolean).join("; ");
function creditBar(n) {  // of the papers shown, relative to the best call
  const { credit } = current.own, most = Math.max(...(credit ?? []).map((values) => values[0]));
  return credit?.[n - 1] ? el("span", { class: "credit", title: `credit: ${credited(credit[n - 1])}` }, el("i", { style: `width: ${most ? Math.round((100 * credit[n - 1][0]) / most) : 0}%` })) : null;
}
function drawCredit() {  // the last call submits, without which there is nothing
  const { own, place, run } = current, calls = (own.credit ?? []).slice(0, -1).map((values, i) => [i + 1, values]);
  calls.sort(([, a], [, b]) => b[1] - a[1] || b[0] - a[0]);
  const best = calls.filter(([, values]) => values[0] > 0 || values[1] > 0).slice(0, 3);
  return best.length ? [el("p", {}, "The calls that mattered most (credit):"), el("ol", {}, best.map(([n, values]) => el("li", {}, stepLink(run, place, n, `${n}. ${short(attempt(() => summary(own.a[n - 1]), "malformed"), 60)}`), el("small", {}, ` ${credited(values)}`))))] : [];
}
function card(n) {
  const { own, steps } = current, body = el("div"), found = n <= steps && own.w?.[n].length;
  const draw = async () => {
    if (body.hasChildNodes()) return;
    body.append(el("p", {}, "..."));
    const drawn = await drawStep(n).catch(undrawn("step", [own.a[n - 1], own.o[n]]));
    body.replaceChildren(...drawn.flat(2).filter(Boolean));
    if (n > 1 && n === current?.step) body.parentNode.scrollIntoView();
  };
  const title = n > steps ? "How it ended" : [`${n}. ${attempt(() => summary(own.a[n - 1]), "malformed")}`, found ? el("b", { class: "hit", title: "wanted papers shown first by this step" }, ` +${found}`) : null, isRefused(own.o[n]) && el("small", {}, " refused"), n <= steps && creditBar(n)];
  return el("details", { class: "step", id: `step-${n}`, ontoggle: ({ target }) => target.open && draw() }, el("summary", {}, el("bdi", {}, title)), body);
}
const undrawn = (what, data) => (error) => [el("p", { class: "labels" }, `This ${what} cannot be drawn: ${error.message}`), el("pre", {}, JSON.stringify(data))];
const attempt = (make, otherwise) => { try { return make(); } catch { return otherwise; } };
function drawSteps() {  // four and more that take the same arguments are a group
  const { own, steps } = current, items = [];
  const kinds = own.a.map((action) => attempt(() => {
    const { tool, arguments: given } = JSON.parse(build(action)) ?? {};
    return [words(tool ?? "malformed"), words(Object.keys(given ?? {})[0] ?? tool)];
  }, ["malformed", "malformed"]));
  for (let n = 1, next; n <= steps; n = next) {
    for (next = n + 1; next <= steps && kinds[next - 1][1] === kinds[n - 1][1]; ) next += 1;
    const tools = [...new Set(kinds.slice(n - 1, next - 1).map((kind) => kind[0]))].join(", ");
    const cards = Array.from({ length: next - n }, (_, i) => el("li", {}, card(n + i)));
    const found = own.w?.slice(n, next).flat().length;
    if (cards.length < 4) items.push(...cards);
    else items.push(el("li", {}, el("details", { class: "group" }, el("summary", {}, `${n}–${next - 1}. ${short(tools, 60)}: ${cards.length} steps`, found ? el("b", { class: "hit" }, ` +${found}`) : null), el("ol", {}, cards))));
  }
  show("steps", [...items, el("li", {}, card(steps + 1))]);
  $("all").setAttribute("aria-pressed", "false");
}
function openAll() {
  const opened = $("all").getAttribute("aria-pressed") !== "true";
  $("all").setAttribute("aria-pressed", opened);
  for (const each of document.querySelectorAll("#steps .step, #steps .group")) each.open = opened;
}
function drawCourse() {
  const { own, steps } = current;
  if (!own.w) return show("course");
  let sum = 0;
  const shown = own.w.map((fresh) => (sum += fresh.length)), all = total();
  const summary = el("p", { class: "more" }, `Wanted papers shown: ${sum} of ${all}`);
  if (!grows(own)) return show("course", all ? summary : null, ...drawCredit());
  const x = (step) => (40 + (650 * step) / Math.max(steps, 1)).toFixed(1), y = (n) => (116 - (96 * n) / all).toFixed(1);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const add = (tag, properties, text = "") => {
    const node = svg.appendChild(document.createElementNS(svg.namespaceURI, tag));
    for (const [k, v] of Object.entries(properties)) node.setAttribute(k, v);
    node.textContent = text;
  };
  const marked = [...new Set([0, 1, 2, 3, 4].map((part) => Math.round((steps * part) / 4)))];
  for (const [k, v] of Object.entries({ viewBox: "0 0 720 140", class: `plot c${current.run % 6}`, role: "img", "aria-label": `wanted papers shown, of ${all}: ${marked.map((step) => `${shown[step]} after step ${step}`).join(", ")}` })) svg.setAttribute(k, v);
  for (const n of [0, all]) {
    add("path", { class: "grid", d: `M40 ${y(n)}H690` });
    add("text", { class: "tick", "text-anchor": "end", x: 34, y: +y(n) + 4 }, n);
  }
  add("path", { class: "axis", id: "now" });
  add("path", { class: "curve", d: "M" + shown.map((n, step) => `${x(step)} ${y(n)}`).join("L") });
  for (const [i, step] of marked.entries()) {
    const at = { "text-anchor": step === steps ? "end" : step ? "middle" : "start", x: x(step) };
    add("text", { ...at, class: "tick", y: 136 }, step ? `step ${step}` : "start");
    if (i && (shown[step] !== shown[marked[i - 1]] || step === steps)) add("text", { ...at, y: y(shown[step]), dy: shown[step] > 0.7 * all ? "1.2em" : "-.5em" }, shown[step]);
  }
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    go(Math.min(Math.max(Math.round((((event.clientX - box.left) * 720) / box.width - 40) / 650 * steps), 1), steps));
  });
  show("course", summary, svg, ...drawCredit());
}
function go(step) {
  if (current?.own === undefined || step < 1 || step > current.steps + 1) return;
  current.step = step;  // now: the event comes later, perhaps after another key
  location.hash = address(current.run, current.place, step);
}
async function showEpisode(run, place, step) {
  const isNew = current?.run !== run || current?.place !== place;
  if (isNew) {
    const found = await enter(place), own = found.all[run];
    current = { ...found, run, own, steps: own.a.length };
    await load(own.a.flatMap(numbersOf));
    const [id, title, date, , , anchor] = index.topics[place];
    show("h-episode", el("a", { href: `#${anchor}` }, el("bdi", {}, short(title || id, 300))), el("small", {}, ` before ${date}`));
    show("runs-here", found.runs.filter((each) => found.all[each].a).flatMap((each) => [el("a", { href: address(each, place, 1), "aria-current": each === run ? "true" : null }, chip(each)), " "]));
    const first = await read(own.o[0]);
    show("start", values({ topic: own.topic, cutoff: date }, (_, text) => el("bdi", {}, text)), Object.keys(first).length ? el("details", {}, el("summary", {}, el("h3", {}, "What the agent saw first")), result(first, new Set())) : null, total() ? starLegend() : null, marksLegend());
    drawSteps();
    drawCourse();
    scrollTo(0, 0);
  }
  const n = current.step = Math.min(Math.max(Math.trunc(step) || 1, 1), current.steps + 1);
  $("where").textContent = n > current.steps ? `the end, after ${count(current.steps, "step")}: ${current.own.end}` : `step ${n} of ${current.steps}`;
  $("now")?.setAttribute("d", `M${40 + (650 * Math.min(n, current.steps)) / current.steps} 20V116`);
  $("previous").disabled = n <= 1;
  $("next").disabled = n > current.steps;
  const opened = $(`step-${n}`), before = document.querySelector("#steps [aria-current]");
  if (before) before.open = false;
  before?.removeAttribute("aria-current");
  opened.setAttribute("aria-current", "step");
  for (let each = opened; each; each = each.parentElement.closest("details")) each.open = true;
  opened.querySelector("summary").focus({ preventScroll: true });
  if (!isNew || n > 1) opened.scrollIntoView();
}

// The tabs.
async function route() {
  $("trouble").hidden = true;
  const [kind, ...rest] = location.hash.slice(1).split("/"), [name, id, step] = rest.map(decodeURIComponent);
  let place = -1, run = -1;
  if (index) {
    place = index.topics.findIndex((each) => (kind === "e" ? each[0] === id : each[5] === kind));
    run = kind === "e" ? index.runs.findIndex((each) => each.name === name) : -1;
  }
  const isEpisode = run >= 0 && index.episodes.some((each) => each[0] === run && each[1] === place);
  const isTopic = kind !== "e" && place >= 0;
  if (kind === "e" && !isEpisode) trouble(new Error(`there is no episode of the run ${name} on the topic ${id}`));
  const target = isEpisode || isTopic ? $("episodes") : document.getElementById(kind)?.closest(".tab") ?? $("compare");
  for (const tab of document.querySelectorAll(".tab")) tab.hidden = tab !== target;
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.hash === `#${target.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!index) return;
  for (const [part, isShown] of [["list", !isEpisode && !isTopic], ["topic", isTopic], ["episode", isEpisode]]) $(part).hidden = !isShown;
  if (isEpisode) return showEpisode(run, place, +step);
  if (isTopic) {
    await showTopic(place);
    return scrollTo(0, 0);
  }
  current = null;
  if (target.id === "missed") await drawMissed();
  document.getElementById(kind)?.scrollIntoView();
}
const trouble = (error) => {
  $("trouble").hidden = false;
  $("trouble").textContent = `This part of the page cannot be shown: ${visible(error.message)}`;
};
document.addEventListener("keydown", (event) => {
  const busy = event.target.closest?.("input, select, textarea, .wide, .reading, dialog");
  if (!current?.own || busy || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft") go(current.step - 1);
  if (event.key === "ArrowRight") go(current.step + 1);
});
async function begin() {
  index = await unpack("index");
  last = index.stages.length - 1;
  marks = document.body.dataset.marks;
  const option = (value, text) => el("option", { value }, short(text, 80));
  $("of-topic")?.append(...index.topics.map(([id, title], place) => option(place, title || id)));
  $("of-topic")?.addEventListener("change", () => turn(drawMissed));
  if ($("run-a")) {
    for (const id of ["run-a", "run-b"]) {
      $(id).append(...followed().map((run) => option(run, index.runs[run].name)));
      $(id).addEventListener("change", drawDifference);
    }
    $("run-a").value = followed()[1] ?? 0;
    $("differing").hidden = followed().length < 2;
  }
  $("tool").append(...index.tools.map((tool) => option(tool, tool)));
  $("find").addEventListener("submit", (event) => search(event).catch(trouble));
  $("previous").addEventListener("click", () => go(current.step - 1));
  $("next").addEventListener("click", () => go(current.step + 1));
  $("all").addEventListener("click", openAll);
}
(async () => {
  $("filter")?.addEventListener("input", filterTopics);
  for (const heading of document.querySelectorAll("th[data-sort]")) {
    heading.tabIndex = 0;
    heading.addEventListener("click", () => sortBy(heading));
    heading.addEventListener("keydown", (event) => event.key === "Enter" && sortBy(heading));
  }
  if ($("index")) await begin();
  addEventListener("hashchange", () => turn(route));
  await turn(route);
  document.body.dataset.ready = "true";
})().catch(trouble);
