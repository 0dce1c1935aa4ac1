"use strict";
// Unpack a picture when its part of the page is opened.
async function unpack(image) {
  const packed = image.dataset.picture;
  delete image.dataset.picture;
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const svg = await new Response(stream).text();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
}
for (const part of document.querySelectorAll("details.survey")) {
  part.addEventListener("toggle", () => {
    if (!part.open) return;
    for (const image of part.querySelectorAll("img[data-picture]")) {
      unpack(image).catch(() => image.replaceWith(image.alt));  // an old browser
    }
  });
}
document.addEventListener("click", (event) => {
  if (event.target.matches(".picture img")) event.target.classList.toggle("large");
});
// A link to a survey opens it.
function follow() {
  const part = document.getElementById(location.hash.slice(1));
  if (part && part.matches("details")) {
    part.open = true;
    part.scrollIntoView();
  }
}
addEventListener("hashchange", follow);
follow();
// The filter keeps the surveys whose line or id has every word of it.
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll("tr[data-survey]")];
  let kept = 0;
  for (const row of rows) {
    const part = document.getElementById(row.dataset.survey);
    const text = (row.textContent + " " + part.querySelector("summary").textContent).toLowerCase();
    const fits = words.every((word) => text.includes(word));
    row.hidden = part.hidden = !fits;
    kept += fits;
  }
  document.getElementById("kept").textContent = words.length ? `${kept} of ${rows.length}` : "";
});
// A click on the heading of a column sorts by it; what is unknown stays at the end.
for (const head of document.querySelectorAll("th[data-sort]")) {
  head.tabIndex = 0;
  const sort = () => {
    const body = head.closest("table").tBodies[0];
    const down = head.getAttribute("aria-sort") !== "descending";
    head.parentNode.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[head.cellIndex].textContent;
    const number = (row) => parseFloat(value(row).replaceAll(",", ""));
    const isText = head.cellIndex === 0 || [...body.rows].some((row) => /^\d+-/.test(value(row)));
    const order = (a, b) => {
      if (isText) return value(b).localeCompare(value(a));
      const [x, y] = [number(a), number(b)];
      if (isNaN(x) || isNaN(y)) return (isNaN(x) - isNaN(y)) * (down ? 1 : -1);
      return y - x;
    };
    body.append(...[...body.rows].sort((a, b) => (down ? order(a, b) : order(b, a))));
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", (event) => {
    if (event.key === "Enter") sort();
  });
}
