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
const save = (name, type, text) => make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) }).click();

const data = document.getElementById("data");
const json = async () => {
  if (!data.dataset.coding) return data.textContent;
  const bytes = Uint8Array.from(atob(data.textContent), letter => letter.charCodeAt());
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(data.dataset.coding))).text();
};
const download = document.getElementById("download");
download.hidden = false;
on(download, "click", async event => {
  event.preventDefault();
  save(download.download, "application/json", await json());
});

// #link=wpt/3g&sort=saved&row=17
const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const keep = (key, value) => {
  state.set(key, value);
  history.replaceState(null, "", "#" + String(state).replaceAll("%2F", "/"));
};

// A mark's values, for eyes and for screen readers.
const live = make("div", { class: "live", "aria-live": "polite" });
const tip = make("div", { class: "tip", hidden: "" });
document.body.append(live, tip);
const show = (text, mark, aloud) => {
  const box = mark.getBoundingClientRect();
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = Math.max(8, Math.min(box.right + 8, innerWidth - tip.offsetWidth - 8)) + scrollX + "px";
  tip.style.top = box.top + scrollY - tip.offsetHeight - 6 + "px";
  if (aloud) live.textContent = text;
};
const hide = () => { tip.hidden = true; };

// Marks: hover, or arrow keys.
const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
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
  set(svg, { role: "group" });
  entries.forEach(entry => {
    const drawn = all("g", svg).filter(group => group.classList.value === entry.classList.value && !entries.includes(group));
    const toggle = () => {
      const shown = entry.getAttribute("aria-pressed") === "false";
      set(entry, { "aria-pressed": shown });
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
  const name = (figure.querySelector("figcaption b")?.textContent ?? "figure").replace(/[^\p{L}\p{N}]+/gu, "-");
  const tools = make("p", { class: "tools" });
  if (svg) tools.append(button("SVG", () => {
    const copy = svg.cloneNode(true);
    copy.prepend(make("style", {}, document.querySelector("style").textContent));
    save(name + ".svg", "image/svg+xml", new XMLSerializer().serializeToString(copy));
  }));
  const csv = figure.querySelector("template");
  if (csv) tools.append(button("CSV", () => save(name + ".csv", "text/csv", csv.content.textContent)));
  figure.append(tools);
}

// Columns of figures sort by value, others as words; what has no value comes last.
const scale = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, m: 1e-3, "µ": 1e-6, n: 1e-9, min: 60, h: 3600 };
const number = text => {
  const found = /^[^\d+-]{0,2}([+-]?[\d,]*\.?\d+)\s*(min\b|h\b|[kKMGTmµn](?=i?(?:B|s|bit|J|W)\b))?/.exec(text.trim().replace("−", "-"));
  return found ? Number(found[1].replaceAll(",", "")) * (scale[found[2]] ?? 1) : NaN;
};
all(".scroll table").forEach((table, nth) => {
  const body = table.tBodies[0];
  if (body.rows.length < 3) return;
  all("thead th", table).forEach((head, at) => {
    const valued = head.classList.contains("figure");
    const sort = up => {
      all("th", table).forEach(other => other.removeAttribute("aria-sort"));
      set(head, { "aria-sort": up ? "ascending" : "descending" });
      const value = row => valued ? number(row.cells[at].textContent) : row.cells[at].textContent;
      const lacks = row => !value(row) && value(row) !== 0;
      const order = (one, other) => valued ? value(one) - value(other) : value(one).localeCompare(value(other), "en", { numeric: true });
      body.append(...[...body.rows].sort((one, other) =>
        lacks(one) - lacks(other) || (lacks(one) ? 0 : up ? order(one, other) : order(other, one))));
    };
    const text = head.textContent;
    head.textContent = "";
    head.append(button(text, () => {
      const up = +(head.getAttribute("aria-sort") !== "ascending");
      sort(up);
      keep("table", nth + "." + at + "." + up);
    }));
    for (const up of [0, 1]) if (state.get("table") === nth + "." + at + "." + up) sort(up);
  });
});

for (const code of all("figure.code pre, .how pre")) {
  const copy = button("copy", async () => {
    getSelection().selectAllChildren(code);
    try { await navigator.clipboard.writeText(code.textContent); } catch { document.execCommand("copy"); }
    live.textContent = copy.textContent = "copied";
  });
  copy.className = "copy";
  code.before(copy);
}

// A waterfall's rows, by start, by time saved or by connection.
for (const chart of all(".waterfall")) {
  chart.rows = all("li.row", chart);
  chart.rows.forEach((row, at) => { row.at = at; });
  on(chart, "focusin", ({ target }) => {
    if (target.at >= 0) { show(target.title, target.querySelector(".n"), true); keep("row", target.at + 1); }
  });
  on(chart, "focusout", hide);
  on(chart, "keydown", event => {
    const next = event.target[{ ArrowDown: "next", ArrowUp: "previous" }[event.key] + "ElementSibling"];
    if (next?.at >= 0) { event.preventDefault(); next.focus(); }
  });
  const value = { start: () => 0, saved: row => -row.dataset.saved || 0, lane: row => parseInt(row.dataset.lane) || 1e9 };
  const choices = all(".tools button", chart);
  const sort = by => {
    all("ol", chart).forEach(list => {
      const sorted = [...list.children].sort((one, other) => value[by](one) - value[by](other) || one.at - other.at);
      list.append(...sorted);
      sorted.forEach((row, at) => row.classList.toggle("lane", by === "lane" && row.dataset.lane !== sorted[at - 1]?.dataset.lane));
    });
    choices.forEach(choice => set(choice, { "aria-pressed": choice.value === by }));
  };
  choices.forEach(choice => {
    const by = choice.value;
    choice.parentElement.hidden = false;
    on(choice, "click", () => { sort(by); keep("sort", by); });
    if (by === state.get("sort")) sort(by);
  });
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
    if (!(event.key in step)) return;
    const next = tabs.children[([...tabs.children].indexOf(document.activeElement) + step[event.key] + links.length) % links.length];
    next.focus();
    next.click();
  });
  links[0].before(tabs);
  open((links.find(section => section.dataset.link === state.get("link")) ?? links[0]).dataset.link);
}

// A link of the contents opens what it leads to; paper has all.
const unfold = fold => fold?.setAttribute("open", "");
const follow = () => {
  if (location.hash.includes("=")) return;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  unfold(target?.querySelector(":scope > h2 + details"));
  const link = target?.closest("section[data-link]");
  if (link?.hidden) { open(link.dataset.link); target.scrollIntoView(); }
};
on(window, "hashchange", follow);
follow();
on(window, "beforeprint", () => all("details").forEach(unfold));
const row = all(".waterfall").find(waterfall => waterfall.getClientRects().length)?.rows[state.get("row") - 1];
unfold(row?.closest("details"));
row?.focus();
