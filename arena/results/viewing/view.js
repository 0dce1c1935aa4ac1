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
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : visible(value));
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
const numbersOf = (parts) => parts.flatMap((p) => (Array.isArray(p) ? p[0] : typeof p === "number" ? [p < 0 ? -p - 1 : p] : []));
function build(parts) {  // as arena.results.viewing.packing packs them
  return parts.map((part) => {
    if (typeof part === "string") return part;
    if (typeof part === "number") return part < 0 ? QUOTED.exec(texts[-part - 1])[1] : texts[part];
    const [ids, decimals, below] = part;
    let score = 0;
    return ids.map((n, i) => `{${texts[n]}${below ? `,"score":${(score -= below[i]) / 10 ** decimals}` : ""}}`).join(",");
  }).join("");
}
const paperOf = (number) => JSON.parse(`{${texts[number]}}`);
const named = (id) => (numbers.has(id) ? paperOf(numbers.get(id)) : { id: words(id), title: "", date: "" });
async function read(parts) {
  await load(numbersOf(parts));
  return JSON.parse(build(parts));
}
async function survey(place) {
  const [, , , block, slot] = index.surveys[place];
  return (await unpack(`e${block}`))[slot];  // labels, and place of a run -> episode
}

// The funnel. Bit n of a mask: whether a reference reached stage n.
let index, marks, last;
const lostAfter = (mask) => (mask >> last ? null : 31 - Math.clz32(mask));  // the last one reached
const stageName = (n) => {
  const depths = new Set(index.runs.map((run) => run.depth));
  return n === last && depths.size === 1 ? `within the first ${[...depths][0]}` : index.stages[n][1];
};
// The last stage is one only where a rank counts.
const stagesHere = () => index.stages.map((_, n) => n).filter((n) => n < last || index.runs.some((run) => run.depth !== null));
const isChosen = (place) => $("of-survey").value === "" || place === +$("of-survey").value;
function drawFunnel() {
  const runs = index.runs.map(() => ({ reached: [], lost: [] }));
  for (const [run, place, , , masks] of index.episodes) {
    if (!isChosen(place)) continue;
    for (const mask of masks) {
      for (let n = 0; n <= last; n += 1) runs[run].reached[n] = (runs[run].reached[n] ?? 0) + ((mask >> n) & 1);
      const lost = lostAfter(mask);
      if (lost !== null) runs[run].lost[lost] = (runs[run].lost[lost] ?? 0) + 1;
    }
  }
  const body = stagesHere().map((n) =>
    row(rowHead(stageName(n)), runs.map(({ reached, lost }, run) => {
      const bar = el("i", { class: `bar c${run % 6}` });
      bar.style.width = `${(100 * (reached[n] ?? 0)) / (reached[0] || 1)}%`;
      const press = () => listPapers(`Lost by ${index.runs[run].name} after: ${stageName(n)}`, (r, p, i, mask) => r === run && isChosen(p) && lostAfter(mask) === n);
      return el("td", { class: "stage" }, bar, el("b", {}, reached[n] ?? 0), lost[n] ? el("button", { onclick: press, class: "lost", "aria-label": `list the ${lost[n]} lost after it` }, `−${lost[n]}`) : null);
    })));
  show("funnel", el("div", { class: "wide", tabindex: 0 }, el("table", { class: "funnel" }, head("listed references", ...index.runs.map((_, run) => chip(run))), el("tbody", {}, body))));
  show("lost");
}
async function listPapers(title, fits) {
  const found = [];
  for (const [run, place, , , masks] of index.episodes) {
    masks.forEach((mask, i) => fits(run, place, i, mask) && found.push([run, place, i]));
  }
  const rows = [];
  for (const [run, place, i] of found.slice(0, 200)) {
    const [labels, own] = await survey(place);
    const [number, gain, status] = labels.refs[i];
    const [, rank, query, submitted] = own[run].wanted[i];
    await load([number]);
    const best = rank ? [`rank ${rank} for the query of `, stepLink(run, place, query)] : query === null && gain ? "no query finds it" : "";
    rows.push(row(rowHead(title_(paperOf(number), gain)), el("td", { class: "left" }, gain ? best : status.replaceAll("_", " ")), submitted || "-", el("td", { class: "left" }, stepLink(run, place, 1, short(index.surveys[place][1], 60)))));
  }
  show("lost", el("h3", { tabindex: -1 }, `${title} (${found.length})`), el("div", { class: "wide", tabindex: 0 }, el("table", {}, head("paper", "found", "rank in the answer", "survey"), el("tbody", {}, rows))), found.length > 200 && el("p", { class: "more" }, `and ${found.length - 200} more: choose a survey`));
  $("lost").firstChild.focus();
}
function drawDifference() {
  $("loser").textContent = visible(`${index.runs[+$("run-a").value].name} against ${index.runs[+$("run-b").value].name}`);
  listEpisodes();
  const [a, b] = [+$("run-a").value, +$("run-b").value];
  const masks = new Map([a, b].map((of) => [of, new Map(index.episodes.filter(([run]) => run === of).map((e) => [e[1], e[4]]))]));
  const counted = (run, place, i) => masks.get(run).has(place) && lostAfter(masks.get(run).get(place)[i]) === null;
  const fits = (by, against, n) => (run, place, i, mask) => run === against && isChosen(place) && lostAfter(mask) === n && counted(by, place, i);
  const episodes = (fit) => index.episodes.reduce((sum, [run, place, , , own]) => sum + own.filter((mask, i) => fit(run, place, i, mask)).length, 0);
  const cell = (by, against, n) => {
    const fit = fits(by, against, n), number = episodes(fit);
    return number ? el("button", { onclick: () => listPapers(`Found by ${index.runs[by].name}, lost by ${index.runs[against].name} after: ${stageName(n)}`, fit) }, number) : "0";
  };
  const rows = stagesHere().slice(0, -1).map((n) => row(rowHead(stageName(n)), cell(a, b, n), cell(b, a, n)));
  show("difference", el("div", { class: "wide", tabindex: 0 }, el("table", {}, head("lost by the other run after", el("span", {}, "only ", chip(a)), el("span", {}, "only ", chip(b))), el("tbody", {}, rows))));
}

// Lists of episodes and steps.
const address = (run, place, step) => `#e/${[index.runs[run].name, index.surveys[place][0], step].map(encodeURIComponent).join("/")}`;
const stepLink = (run, place, step, text = `step ${step}`) => el("a", { href: address(run, place, step) }, el("bdi", {}, text));
function listEpisodes() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const of = new Map(index.surveys.map((_, place) => [place, []]));
  for (const episode of index.episodes) of.get(episode[1])[episode[0]] = episode;
  const fits = index.surveys.map(([id, title], place) => [place, `${id} ${title}`.toLowerCase()]).filter(([, text]) => words.every((word) => text.includes(word)));
  if ($("losses")?.checked) {
    const gain = ([place]) => (of.get(place)[+$("run-a").value]?.[3] ?? NaN) - (of.get(place)[+$("run-b").value]?.[3] ?? NaN);
    fits.sort((x, y) => (gain(x) || 0) - (gain(y) || 0));
  }
  const rows = fits.map(([place]) => {
    const [id, title, date] = index.surveys[place];
    return row(rowHead(el("bdi", { title: id }, short(title || id))), date, index.runs.map((_, run) => {
      const episode = of.get(place)[run];
      return episode ? stepLink(run, place, 1, episode[3] === null ? count(episode[2], "step") : episode[3].toFixed(4)) : "-";
    }));
  });
  $("kept").textContent = words.length ? `${rows.length} of ${index.surveys.length}` : "";
  show("list", el("table", { class: "ranks" }, head("survey", "date", ...index.runs.map((_, run) => chip(run))), el("tbody", {}, rows)));
}
async function search(event) {
  event.preventDefault();
  const sought = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const tool = $("tool").value, refused = $("refused").checked;
  show("hits");
  await loadAll();
  const within = sought.map((word) => new Set(texts.flatMap((text, n) => (text.toLowerCase().includes(word) ? [n] : []))));
  const has = (parts, word, i) => parts.some((part) => (typeof part === "string" ? part.toLowerCase().includes(word) : numbersOf([part]).some((n) => within[i].has(n))));
  let found = 0;
  for (const [place] of index.surveys.entries()) {
    for (const [run, episode] of Object.entries((await survey(place))[1])) {
      episode.a.forEach((action, n) => {
        const result = episode.o[n + 1];
        const isRefused = String(result[0]).startsWith('{"error"');
        if ((refused && !isRefused) || (tool && !String(action[0]).includes(`"${tool}"`))) return;
        const said = JSON.stringify((episode.said[n + 1] ?? []).map(([text]) => text)).toLowerCase();
        if (!sought.every((word, i) => has(action, word, i) || has(result, word, i) || said.includes(word))) return;
        found += 1;
        if (found > 200) return;
        const link = stepLink(+run, place, n + 1, `${short(index.surveys[place][1], 60)}, step ${n + 1}: ${summary(action)}`);
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

// An episode, step by step.
let current = null;
function title_(paper, gain) {
  const open = () => openPaper(paper.id);
  const star = gain ? el("b", { class: "star", title: gain > 1 ? "wanted, influential" : "wanted" }, gain > 1 ? "★ " : "☆ ") : null;
  return el("button", { class: "paper", onclick: open }, star, el("bdi", {}, short(paper.title || paper.id, 200)));
}
const gainOf = (id) => current?.gold.get(id)?.[1] ?? 0;
async function openPaper(id) {
  await loadAll();
  const paper = named(id), place = current?.gold.get(id)?.[0];
  const link = /^(arxiv:)?\d{4}\.\d{4,5}$/i.test(id) ? `https://arxiv.org/abs/${id.replace(/^arxiv:/i, "")}` : /^(doi:)?10\.\d{4,9}\//i.test(id) ? `https://doi.org/${encodeURI(id.replace(/^doi:/i, ""))}` : null;
  const facts = [paper.date, link ? el("a", { href: link, rel: "noreferrer" }, id) : id];
  const about = [el("p", {}, facts.flatMap((fact) => (fact ? [fact, " "] : [])))];
  if (place !== undefined) {
    const [, gain, status, text] = current.labels.refs[place];
    about.push(el("p", {}, gain > 1 ? "Wanted, influential." : gain ? "Wanted." : `Cited, not in reach: ${status.replaceAll("_", " ")}.`));
    about.push(el("ul", {}, Object.entries(current.all).map(([run, { wanted }]) => {
      const [mask, rank, , submitted] = wanted[place], lost = lostAfter(mask);
      return el("li", {}, chip(+run), `: ${lost === null ? "found" : `lost after: ${stageName(lost)}`}${rank ? `; best rank of a query: ${rank}` : ""}${submitted ? `; rank in the answer: ${submitted}` : ""}`);
    })));
    if (text !== null) about.push(el("p", { class: "text" }, JSON.parse(texts[text])));
  }
  show("h-paper", el("bdi", {}, paper.title || id));
  show("about", about);
  $("paper").showModal();
}
function cited(text) {  // a report with its citations as buttons
  return el("div", { class: "text" }, text.split(/(@\{[^}]{0,300}\}|@[^\s;,\[\]{}]{0,300}[^\s;,\[\]{}@.:?!])/).map((part, i) => {
    if (i % 2 === 0) return part;
    const id = part.replace(/^@\{?|\}$/g, "");
    return el("button", { class: `paper${gainOf(id) ? " near" : ""}`, title: named(id).title, onclick: () => openPaper(id) }, el("bdi", {}, part));
  }));
}
function tree(node) {
  const papers = list(node?.papers), below = list(node?.children);
  const label = [el("bdi", {}, words(node?.label || "(no heading)")), papers.length ? el("small", {}, ` ${papers.length}`) : null];
  const listed = papers.map((id) => el("li", {}, title_(named(id), gainOf(id))));
  return el("li", {}, listed.length ? el("details", {}, el("summary", {}, label), el("ul", {}, listed)) : label, below.length ? el("ul", {}, below.map(tree)) : null);
}
async function besideGold(map) {
  const own = current.labels.map ? await read(current.labels.map) : null;
  const draw = (name, root) => el("section", {}, el("h4", {}, name), el("ul", { class: "tree" }, tree(root)));
  return el("div", { class: "two" }, draw("submitted", map), own && draw("the survey's own", own));
}
function values(object, entry) {
  return el("dl", {}, Object.entries(object).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, [entry(name, value)].flat())]));
}
function listing(papers, fresh) {
  return el("ol", { class: "papers", start: 1 }, papers.map((paper) => el("li", { class: fresh.has(paper.id) ? "fresh" : null }, title_(paper, gainOf(paper.id)), " ", el("time", {}, paper.date), paper.score === undefined ? null : el("small", {}, ` ${paper.score}`))));
}
const plain = (part) => el("div", { class: "text" }, words(part));
function result(value, fresh) {
  if (Array.isArray(value.lists)) return value.lists.flatMap((each) => result(each, fresh));
  const isList = ([, part]) => Array.isArray(part) && part[0]?.id !== undefined;
  const all = Object.entries(value), lists = all.filter(isList), rest = all.filter((entry) => !isList(entry));
  return [
    rest.length ? values(Object.fromEntries(rest), (_, part) => plain(part)) : null,
    lists.map(([name, papers]) => [el("h4", {}, `${papers.length} ${name}`), listing(papers, fresh)]),
  ].flat(2);
}
function argument(name, part, map) {  // of a call
  if (name === "paper_ids" && Array.isArray(part)) return listing(part.map(named), new Set());
  if (name === "paper_id" && numbers.has(part)) return title_(named(part), gainOf(part));
  if (name === "mind_map" && map) return "below, each heading with its number of papers";
  return name === "text" ? cited(words(part)) : plain(part);
}
function exact(text) {
  const pre = el("pre");
  return el("details", { ontoggle: () => (pre.textContent = visible(text)) }, el("summary", {}, "exact JSON; scores are rounded to four digits of the best"), pre);
}
function prompted(n, place) {  // the messages before an answer, of which each prompt has the new ones
  const { own, run, place: at } = current, summary = el("summary", {}, "The prompt");
  const draw = ({ role, content, tool_calls: calls }) => [el("h4", {}, role), typeof content === "number" ? el("p", {}, stepLink(run, at, content + 1, content ? `the result of step ${content}` : "the first observation")) : content && plain(content), calls && el("pre", {}, JSON.stringify(calls.map((c) => c.function), null, 1))];
  return el("details", { class: "prompt", ontoggle: async ({ target }) => {
    let messages = [];
    for (const step of Object.keys(own.said).map(Number).filter((step) => step <= n)) {
      for (const [same, parts] of own.said[step].slice(0, step < n ? undefined : place + 1).map((each) => each[4])) {
        if (parts) messages = [...messages.slice(0, same), ...(await read(parts))];
      }
    }
    target.replaceChildren(summary, ...messages.flatMap(draw).filter(Boolean));
  } }, summary);
}
const papersIn = (places) => el("ul", {}, places.map((i) => el("li", {}, title_(paperOf(current.labels.refs[i][0]), current.labels.refs[i][1]))));
function budget(n) {
  const [start, ...spent] = current.own.b;
  const left = start.map((all, i) => all - spent.slice(0, n).reduce((sum, step) => sum + step[i], 0));
  const names = index.runs[current.run].budget;
  return values(Object.fromEntries(names.map((name, i) => [`${name} left`, left[i].toLocaleString("en") + (spent[n - 1][i] ? ` (−${spent[n - 1][i].toLocaleString("en")})` : "")])), (_, text) => text);
}
async function showStep(n) {
  const { own, steps } = current;
  current.step = n;
  show("where", n > steps ? `the end, after ${count(steps, "step")}: ${own.end}` : `step ${n} of ${steps}`);
  $("previous").disabled = n <= 1;
  $("next").disabled = n > steps;
  show("h-did", n > steps ? "How it ended" : "What it did");
  await drawStep(n).catch((error) => show("did", el("p", { class: "labels" }, `This step cannot be drawn: ${error.message}`), el("pre", {}, JSON.stringify([own.o[n - 1], own.a[n - 1]]))));
  drawCourse(n);
}
async function drawStep(n) {
  const { own, steps, labels } = current;
  const seen = await read(own.o[n - 1]), fresh = new Set((own.w?.[n - 1] ?? []).map((i) => paperOf(labels.refs[i][0]).id));
  show("saw", n === 1 && values({ topic: own.topic, cutoff: index.surveys[current.place][2] }, (_, text) => el("bdi", {}, text)), el("p", { class: "more" }, `stage ${own.s[n - 1]}`), result(seen, fresh), exact(build(own.o[n - 1])));
  const did = [];
  const said = own.said[n] ?? [];
  for (const [i, [text, calls, prompt, completion, , asker, kind, why]] of said.entries()) {
    if (said[i][4].length) did.push(prompted(n, i));
    did.push(el("h4", {}, `The model answered${asker && ` (${asker})`}`), kind && el("p", { class: "labels" }, `${kind}: ${why}`), el("div", { class: "text said" }, text), calls.length ? el("pre", {}, JSON.stringify(calls.map((c) => c.function), null, 1)) : null, el("p", { class: "more" }, `${prompt ?? "?"} tokens read, ${completion ?? "?"} written`));
  }
  if (n <= steps) {
    const action = await read(own.a[n - 1]), given = action?.arguments;
    const after = await read(own.o[n]);
    const isCall = given && typeof given === "object";
    const map = isCall && given.mind_map?.label !== undefined ? await besideGold(given.mind_map) : null;
    did.push(el("p", { class: "call" }, el("code", {}, isCall ? words(action.tool) : "not a call")));
    did.push(isCall ? values(given, (name, part) => argument(name, part, map)) : el("pre", {}, JSON.stringify(action)));
    if (map) did.push(map);
    if (after.error) did.push(el("p", { class: "labels" }, `Refused: ${after.error}`));
    if (own.w) {
      const terms = Object.entries(own.t[n]).map(([name, value]) => `${name} ${value.toFixed(4)}`).join(", ");
      const before = own.w.slice(0, n).flat().length, total = labels.refs.filter((ref) => ref[1]).length;
      did.push(el("h4", {}, "Reward"), el("p", {}, el("b", {}, own.r[n].toFixed(4)), ` (${terms})`));
      did.push(el("h4", {}, "Wanted papers"), el("p", {}, `${before + own.w[n].length} of ${total} in reach shown so far, ${own.w[n].length} of them by this step`), papersIn(own.w[n]));
    }
    if (own.later?.[n]) {
      const [later, hits] = own.later[n];
      await load(later);
      did.push(el("div", { class: "later" }, el("h4", {}, "Did not exist yet"), el("p", {}, `Without the cutoff, ${hits} of the hits would be later papers:`), listing(later.map(paperOf), new Set())));
    }
    did.push(el("h4", {}, "Budget"), budget(n));
  } else {
    if (!index.labels) did.push(el("p", {}, "The page has no labels, and so no scores."));
    if (own.metrics) did.push(values(own.metrics, (_, value) => (value === null ? "-" : value.toFixed(4))));
    for (const [stage, parts] of Object.entries(own.answers)) {
      const answer = await read(parts);
      const form = index.runs[current.run].forms[stage];
      did.push(el("h4", {}, `Answer, ${stage}`), form === "tree" ? await besideGold(answer) : form === "text" ? cited(answer) : el("pre", {}, JSON.stringify(answer, null, 1)));
    }
    const used = Object.entries(own.usage);
    if (used.length) did.push(el("h4", {}, "Language model"), values(own.usage, (_, value) => JSON.stringify(value)));
  }
  show("did", did);
}
function drawCourse(n) {
  const { own, steps, labels } = current, total = labels.refs.filter((ref) => ref[1]).length;
  if (!own.w || !total) return show("course");
  let sum = 0;
  const shares = own.w.map((fresh) => (sum += fresh.length) / total);
  const x = (step) => ((1000 * step) / Math.max(steps, 1)).toFixed(1), y = (share) => (72 - 68 * share).toFixed(1);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const add = (tag, properties) => svg.appendChild(Object.entries(properties).reduce((node, [k, v]) => (node.setAttribute(k, v), node), document.createElementNS(svg.namespaceURI, tag)));
  for (const [k, v] of Object.entries({ viewBox: "0 0 1000 76", preserveAspectRatio: "none", class: `plot c${current.run % 6}`, role: "img", "aria-label": `share of the wanted papers shown: ${shares[n - 1].toFixed(2)} before this step, ${sum / total} at the end` })) svg.setAttribute(k, v);
  add("path", { class: "grid", d: "M0 4H1000M0 72H1000" });
  add("path", { class: "curve", d: "M" + shares.map((share, step) => `${x(step)} ${y(share)}`).join("L") });
  add("path", { class: "now", d: `M${x(n - 1)} 0V76` });
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    go(1 + Math.round(((event.clientX - box.left) / box.width) * steps));
  });
  show("course", el("p", { class: "more" }, `Wanted papers shown: ${Math.round(shares[n - 1] * total)} of ${total} before this step`), svg);
}
async function showAligned() {
  const { all, place, step } = current, task = (run) => index.runs[run].task;
  const places = Object.keys(all).map(Number).filter((run) => task(run) === task(current.run));
  const keys = {};
  for (const run of places) {
    await load(all[run].a.flatMap(numbersOf));
    keys[run] = all[run].a.map((action) => {
      const text = build(action), { tool, arguments: given } = JSON.parse(text) ?? {};
      return given?.query ?? given?.paper_id ? words([tool, given.query ?? given.paper_id]) : text;
    });
  }
  const rows = [];  // each: key, and run -> number of its step
  for (const run of places) merge(rows, keys[run], run);
  const split = rows.findIndex(({ at }) => places.some((run) => at[run] === undefined));
  const cell = (run, n) => {
    if (n === undefined) return el("td", { class: "left" }, "");
    const found = all[run].w?.[n].length;
    const refused = String(all[run].o[n][0]).startsWith('{"error"');
    return el("td", { class: `left${run === current.run && n === step ? " here" : ""}` }, stepLink(run, place, n, `${n}. ${summary(all[run].a[n - 1])}`), found ? el("b", { class: "hit", title: "wanted papers shown first by this step" }, ` +${found}`) : null, refused && el("small", {}, " refused"));
  };
  const body = rows.flatMap(({ at }, i) => {
    const mark = places.length > 1 && i === split ? el("tr", { class: "split" }, el("th", { colspan: places.length, scope: "rowgroup" }, "Here the runs first differ")) : null;
    return [mark, el("tr", {}, places.map((run) => cell(run, at[run])))];
  });
  show("beside", el("table", { class: "beside" }, el("thead", {}, el("tr", {}, places.map((run) => el("th", { scope: "col", class: "left" }, chip(run))))), el("tbody", {}, body)));
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
function go(step) {
  if (!current || step < 1 || step > current.steps + 1) return;
  current.step = step;  // now: the event comes later, perhaps after another key
  location.hash = address(current.run, current.place, step);
}
async function route() {
  const [kind, ...rest] = location.hash.slice(1).split("/");
  const [name, id, step] = rest.map((part) => decodeURIComponent(part));
  const run = index.runs.findIndex((each) => each.name === name), place = index.surveys.findIndex((each) => each[0] === id);
  const episode = kind === "e" && index.episodes.find((each) => each[0] === run && each[1] === place);
  $("overview").hidden = Boolean(episode);
  $("episode").hidden = !episode;
  if (!episode) {
    current = null;
    if (kind) document.getElementById(kind)?.scrollIntoView();
    return;
  }
  const n = Math.min(Math.max(Math.trunc(+step) || 1, 1), episode[2] + 1);
  const isNew = current?.run !== run || current?.place !== place;
  if (isNew) {
    const [labels, all] = await survey(place);
    await load(labels.refs.flatMap(([number, , , text]) => (text === null ? [number] : [number, text])));
    const gold = new Map(labels.refs.map((ref, i) => [paperOf(ref[0]).id, [i, ref[1]]]));
    current = { run, place, labels, all, gold, own: all[run], steps: episode[2], step: n };
    const [, title, date] = index.surveys[place];
    show("h-episode", el("bdi", {}, short(title || id, 300)), el("small", {}, ` before ${date}`));
    show("runs-here", Object.keys(all).flatMap((each) => [el("a", { href: address(+each, place, 1), "aria-current": +each === run ? "true" : null }, chip(+each)), " "]));
    scrollTo(0, 0);
  }
  await showStep(n);
  if ($("aligned").open) await showAligned();
  if (!isNew) return;
  $("next").focus({ preventScroll: true });
  await load([...current.own.o, ...current.own.a].flatMap(numbersOf));  // for the steps to come
}
const trouble = (error) => {
  $("trouble").hidden = false;
  $("trouble").textContent = `This part of the page cannot be shown: ${visible(error.message)}`;
};
document.addEventListener("keydown", (event) => {
  const busy = event.target.closest?.("input, select, textarea, .wide, dialog");
  if (!current || busy || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft") go(current.step - 1);
  if (event.key === "ArrowRight") go(current.step + 1);
});
(async () => {
  index = await unpack("index");
  last = index.stages.length - 1;
  marks = document.body.dataset.marks;
  const option = (value, text) => el("option", { value }, short(text, 80));
  if (index.labels) {
    $("of-survey").append(...index.surveys.map(([id, title], place) => option(place, title || id)));
    $("of-survey").addEventListener("change", () => (drawFunnel(), $("run-a") && drawDifference()));
    drawFunnel();
    if ($("run-a")) {
      for (const id of ["run-a", "run-b"]) {
        $(id).append(...index.runs.map((run, place) => option(place, run.name)));
        $(id).addEventListener("change", drawDifference);
      }
      $("run-a").value = index.runs.length - 1;
      drawDifference();
    }
  }
  $("tool").append(...index.tools.map((tool) => option(tool, tool)));
  listEpisodes();
  $("filter").addEventListener("input", listEpisodes);
  $("losses")?.addEventListener("change", listEpisodes);
  $("search").addEventListener("submit", (event) => search(event).catch(trouble));
  $("previous").addEventListener("click", () => go(current.step - 1));
  $("next").addEventListener("click", () => go(current.step + 1));
  $("aligned").addEventListener("toggle", () => $("aligned").open && current && showAligned().catch(trouble));
  let shown = route();
  addEventListener("hashchange", () => (shown = shown.then(route).catch(trouble)));  // one after another
  await shown;
  document.body.dataset.ready = "true";
})().catch(trouble);
