"use strict";
const all = (query, from = document) => [...from.querySelectorAll(query)];
const on = (element, event, act) => element.addEventListener(event, act);
const set = (element, attributes) => Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
const make = (name, attributes = {}, text = "") => {
  const made = document.createElement(name);
  set(made, attributes);
  made.textContent = text;
  return made;
};
const button = (text, act) => {
  const made = make("button", { type: "button" }, text);
  on(made, "click", act);
  return made;
};
const file = (type, text) => URL.createObjectURL(new Blob([text], { type }));
const save = (name, type, text) => make("a", { download: name, href: file(type, text) }).click();

const data = document.getElementById("data");
const json = async () => {
  if (!data.dataset.coding) return data.textContent;
  const bytes = Uint8Array.from(atob(data.textContent), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(data.dataset.coding))).text();
};
const download = document.getElementById("download");
download.hidden = false;
on(download, "click", async event => {
  event.preventDefault();
  save(download.download, "application/json", await json());
});

// The fragment: #link=wpt/3g&sort=saved&row=17
const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const keep = (key, value) => {
  state.set(key, value);
  history.replaceState(null, "", "#" + state);
};

// A mark's values, for eyes and for screen readers.
const live = make("div", { class: "live", "aria-live": "polite" });
const tip = make("div", { class: "tip", hidden: "" });
document.body.append(live, tip);
const show = (text, mark, aloud) => {
  const box = mark.getBoundingClientRect();
  tip.textContent = text;
  tip.hidden = false;
  const left = Math.min(box.right + 8, innerWidth - tip.offsetWidth - 8);
  tip.style.left = Math.max(8, left) + scrollX + "px";
  tip.style.top = box.top + scrollY - tip.offsetHeight - 6 + "px";
  if (aloud) live.textContent = text;
};
const hide = () => { tip.hidden = true; };

// Marks: hover, or arrow keys.
for (const svg of all("svg.chart")) {
  const marks = all("title", svg).map(title => title.parentElement).filter(mark => mark !== svg && mark.closest("svg") === svg);
  marks.forEach(mark => {
    const title = mark.querySelector("title");
    mark.value = title.textContent;
    title.remove();
    on(mark, "pointerenter", () => show(mark.value, mark));
    on(mark, "pointerleave", hide);
  });
  if (!marks.length) continue;
  let at = -1;
  const go = next => {
    const seen = marks.filter(mark => mark.getClientRects().length);
    if (!seen.length) return;
    marks.forEach(mark => mark.classList.remove("at"));
    at = (next + seen.length) % seen.length;
    seen[at].classList.add("at");
    show(seen[at].value, seen[at], true);
  };
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  svg.tabIndex = 0;
  on(svg, "keydown", event => {
    if (!(event.key in step)) return;
    event.preventDefault();
    go(at + step[event.key]);
  });
  on(svg, "blur", () => { hide(); marks.forEach(mark => mark.classList.remove("at")); });
  // The legend hides series.
  const entries = all("g > text.legend", svg).map(text => text.parentElement);
  if (entries.length < 2) continue;
  svg.setAttribute("role", "group");
  entries.forEach(entry => {
    const kind = entry.getAttribute("class");
    const drawn = all("g", svg).filter(group => group !== entry && group.getAttribute("class") === kind && !entries.includes(group));
    const toggle = () => {
      const shown = entry.getAttribute("aria-pressed") === "false";
      entry.setAttribute("aria-pressed", shown);
      drawn.forEach(group => { group.style.display = shown ? "" : "none"; });
    };
    set(entry, { role: "button", tabindex: 0, "aria-pressed": true });
    on(entry, "click", toggle);
    on(entry, "keydown", event => {
      if (["Enter", " "].includes(event.key)) { event.preventDefault(); toggle(); }
    });
  });
}

// SVG and CSV of a drawing.
for (const figure of all("figure.drawing")) {
  const svg = figure.querySelector("svg");
  const title = figure.querySelector("figcaption b")?.textContent ?? "figure";
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-");
  const tools = make("p", { class: "tools" });
  if (svg) tools.append(button("SVG", () => {
    const copy = svg.cloneNode(true);
    copy.prepend(make("style", {}, document.querySelector("style").textContent));
    save(name + ".svg", "image/svg+xml", new XMLSerializer().serializeToString(copy));
  }));
  const csv = figure.querySelector("template");
  if (csv) tools.append(button("CSV", () => save(name + ".csv", "text/csv", csv.content.textContent)));
  if (tools.firstChild) figure.append(tools);
}

// Columns sort by value, or else as words.
const scale = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, m: 1e-3, "µ": 1e-6, n: 1e-9 };
const number = text => {
  const found = /^[^\d+-]{0,2}([+-]?[\d,]*\.?\d+)(?:\s*([kKMGTmµn])?i?(?:B|s|bit|J|W)\b)?/.exec(text.trim());
  return found ? Number(found[1].replaceAll(",", "")) * (scale[found[2]] ?? 1) : NaN;
};
for (const table of all(".scroll table")) {
  const body = table.tBodies[0];
  if (body.rows.length < 3) continue;
  all("thead th", table).forEach((head, at) => {
    const text = head.textContent;
    head.textContent = "";
    head.append(button(text, () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      all("th", table).forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map(row => ({ row, text: row.cells[at].textContent, value: number(row.cells[at].textContent) }));
      const valued = rows.every(({ text, value }) => text === "" || !Number.isNaN(value));
      const order = (one, other) => valued ? (one.value || 0) - (other.value || 0) : one.text.localeCompare(other.text, "en", { numeric: true });
      rows.sort((one, other) => up ? order(one, other) : order(other, one));
      body.append(...rows.map(({ row }) => row));
    }));
  });
}

for (const code of all("figure.code pre, .how > pre")) {
  const copy = button("copy", async () => {
    getSelection().selectAllChildren(code);
    try { await navigator.clipboard.writeText(code.textContent); } catch { document.execCommand("copy"); }
    live.textContent = copy.textContent = "copied";
  });
  copy.className = "copy";
  code.before(copy);
}

// A waterfall's rows, by start or by time saved.
for (const waterfall of all(".waterfall")) {
  const lists = all("ol", waterfall);
  const rows = all("li.row", waterfall);
  rows.forEach(row => {
    row.tabIndex = 0;
    const text = row.title;
    on(row, "focus", () => { show(text, row.querySelector(".n"), true); keep("row", rows.indexOf(row) + 1); });
    on(row, "blur", hide);
    on(row, "keydown", event => {
      const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
      if (next) { event.preventDefault(); next.focus(); }
    });
  });
  const saved = row => Number(row.dataset.saved ?? 0);
  const sort = by => {
    lists.forEach(list => list.append(...[...list.children].sort((one, other) =>
      by === "saved" ? saved(other) - saved(one) : rows.indexOf(one) - rows.indexOf(other))));
    choices.forEach(choice => choice.setAttribute("aria-pressed", choice.value === by));
  };
  const choices = [["start", "by start"], ["saved", "by time saved"]].map(([by, text]) => {
    const choice = button(text, () => { sort(by); keep("sort", by); });
    choice.value = by;
    return choice;
  });
  if (rows.some(saved)) {
    const tools = make("p", { class: "tools" });
    tools.append(...choices);
    waterfall.before(tools);
    sort(state.get("sort") ?? "start");
  }
}

// Sections of links become tabs.
const links = all("section[data-link]");
const tabs = make("div", { role: "tablist", class: "tabs", "aria-label": "Links" });
const open = name => links.forEach((section, at) => {
  const open = section.dataset.link === name;
  section.hidden = !open;
  set(tabs.children[at], { "aria-selected": open, tabindex: open ? 0 : -1 });
});
if (links.length > 1) {
  links.forEach((section, at) => {
    const tab = button(section.dataset.link, () => { open(section.dataset.link); keep("link", section.dataset.link); });
    set(tab, { role: "tab", id: "tab" + at, "aria-controls": section.id });
    set(section, { role: "tabpanel", "aria-labelledby": tab.id });
    tabs.append(tab);
  });
  on(tabs, "keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs.children[([...tabs.children].indexOf(document.activeElement) + step + links.length) % links.length];
    next.focus();
    next.click();
  });
  links[0].before(tabs);
  open((links.find(section => section.dataset.link === state.get("link")) ?? links[0]).dataset.link);
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("section[data-link]");
    if (target?.hidden) { open(target.dataset.link); target.scrollIntoView(); }
  };
  on(window, "hashchange", follow);
  follow();
}
const row = all(".waterfall li.row").filter(row => row.getClientRects().length)[state.get("row") - 1];
row?.focus();
