// Follows the monitor's events and draws them. Every text of an event is put into the page as text, never as markup.
"use strict";

const MOST_POINTS = 600;
const MOST_CHARTS = 24;
const MOST_ROWS = 50;
const RATE_SECONDS = 10;
const RETRY_MILLISECONDS = 1000;
const WIDTH = 320, HEIGHT = 150, LEFT = 6, RIGHT = 6, TOP = 8, BOTTOM = 20;

const byId = id => document.getElementById(id);
const subjects = new Map();
const charts = new Map();
const units = new Map();
const latest = [];
let token = sessionStorage.getItem("token");
let cursor = "start";
let skipped = 0, damaged = 0;
let drawing = false;

function setState(text, broken = false) {
  byId("state").textContent = text;
  byId("state").classList.toggle("broken", broken);
}

function pause(milliseconds) {
  return new Promise(done => setTimeout(done, milliseconds));
}

function askForToken(refused) {
  const form = byId("ask");
  form.hidden = false;
  setState(refused ? "this token is refused" : "a token is needed", refused);
  byId("token").focus();
  return new Promise(done => {
    form.onsubmit = event => {
      event.preventDefault();
      token = byId("token").value;
      sessionStorage.setItem("token", token);
      form.hidden = true;
      done();
    };
  });
}

async function follow() {
  for (;;) {
    try {
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(`v1/subscribe?mode=latest&from=${encodeURIComponent(cursor)}`, { headers, cache: "no-store" });
      if (response.status === 401) {
        const refused = token !== null;
        token = null;
        sessionStorage.removeItem("token");
        await askForToken(refused);
        continue;
      }
      if (response.status === 410) {
        // The monitor has another log than before: its events are new ones.
        cursor = "start";
        continue;
      }
      if (!response.ok) throw new Error(`the monitor answers with ${response.status}`);
      setState("live");
      await readLines(response.body);
      setState("the monitor has ended the answer; trying again", true);
    } catch (error) {
      setState(`no connection to the monitor (${error.message}); trying again`, true);
    }
    await pause(RETRY_MILLISECONDS);
  }
}

async function readLines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line !== "") take(JSON.parse(line));
    if (!drawing) {
      drawing = true;
      requestAnimationFrame(draw);
    }
  }
}

function take(line) {
  if (typeof line.cursor === "string") cursor = line.cursor;
  if (line.skipped) skipped += line.skipped;
  if (line.damaged) damaged += line.damaged.events;
  if (line.subject === undefined) return;
  const subject = subjects.get(line.subject) ?? { count: 0, lost: 0, times: [] };
  subjects.set(line.subject, subject);
  subject.count += 1;
  subject.lost += line.subject === "_loss" ? (line.span ?? 1) : 0;
  const seconds = line.time_ns / 1e9;
  subject.times.push(seconds);
  if (subject.times.length > MOST_POINTS) subject.times.shift();
  for (const [name, value] of Object.entries(line.fields)) {
    if (name.startsWith("unit.")) units.set(name.slice(5), String(value));
    else if (typeof value === "number" && isCharted(line.subject, name)) point(line, name, seconds, value);
  }
  if (line.subject === "run.begin") byId("title").textContent = String(line.fields.study ?? "Live events");
  if (line.subject === "run.progress") progress(line.fields);
  if (line.subject === "run.end") setState("the run has ended");
  latest.unshift(line);
  latest.length = Math.min(latest.length, MOST_ROWS);
}

// Losses have a column of their own, and a run's counts are shown by its bar; the time of a world is none of its figures.
function isCharted(subject, name) {
  if (subject.startsWith("_") || subject === "run.progress") return false;
  return !(subject === "run.repeat" && name === "repeat") && !(isOfWorld(subject) && name === "world_time");
}

// A run tells of few parts of a world. Their charts come first.
function isOfWorld(subject) {
  return subject.startsWith("run.world.");
}

function point(line, name, seconds, value) {
  const key = JSON.stringify([line.subject, name]);
  let chart = charts.get(key);
  if (chart === undefined) {
    if (charts.size >= MOST_CHARTS && !isOfWorld(line.subject)) return;
    chart = { subject: line.subject, name, points: [], figure: null, changed: true };
    charts.set(key, chart);
  }
  chart.points.push([seconds, value]);
  if (chart.points.length > MOST_POINTS) chart.points.shift();
  chart.changed = true;
}

function progress(fields) {
  const done = Number(fields.done) || 0, total = Number(fields.total) || 0;
  byId("run").hidden = false;
  byId("bar").max = Math.max(total, 1);
  byId("bar").value = done;
  byId("count").textContent = `${done} of ${total} repeats.`;
  byId("cell").textContent = String(fields.cell ?? "");
}

function draw() {
  drawing = false;
  for (const chart of charts.values()) if (chart.changed) drawChart(chart);
  drawSubjects();
  const rows = latest.map(line => row([
    [new Date(line.time_ns / 1e6).toISOString().slice(11, 23), "time"],
    [line.subject, ""],
    [Object.entries(line.fields).filter(([name]) => !name.startsWith("unit.")).map(([name, value]) => `${name}=${value}`).join("  "), "fields"],
    [line.source, ""],
  ]));
  byId("events").replaceChildren(...rows);
  const notices = [];
  if (skipped > 0) notices.push(`${skipped} events were skipped, since this page was too slow for them.`);
  if (damaged > 0) notices.push(`${damaged} events are damaged in the monitor's store.`);
  byId("notice").hidden = notices.length === 0;
  byId("notice").textContent = notices.join(" ");
}

function drawSubjects() {
  const now = Date.now() / 1000;
  const rows = [...subjects].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, subject]) => {
    const recent = subject.times.filter(time => time > now - RATE_SECONDS).length;
    return row([[name, ""], [String(subject.count), "number"], [(recent / RATE_SECONDS).toFixed(1), "number"], [String(subject.lost), "number"]]);
  });
  byId("subjects").replaceChildren(...rows);
}

function row(cells) {
  const line = document.createElement("tr");
  for (const [text, name] of cells) {
    const cell = line.insertCell();
    cell.textContent = text;
    cell.className = name;
  }
  return line;
}

function shape(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function number(value) {
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

function drawChart(chart) {
  chart.changed = false;
  if (chart.figure === null) {
    chart.figure = document.createElement("figure");
    const others = isOfWorld(chart.subject) ? [...charts.values()].filter(other => other.figure !== null && !isOfWorld(other.subject)) : [];
    byId("charts").insertBefore(chart.figure, others[0]?.figure ?? null);
  }
  const unit = units.get(chart.name) ?? "";
  const suffix = unit === "" || unit === "1" ? "" : ` ${unit}`;
  const times = chart.points.map(([time]) => time), values = chart.points.map(([, value]) => value);
  const first = Math.min(...times), last = Math.max(...times);
  let low = Math.min(0, ...values), high = Math.max(0, ...values);
  if (low === high) high = low + 1;
  const x = time => LEFT + (last === first ? 1 : (time - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const y = value => TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM);
  const newest = values[values.length - 1];
  const name = `${chart.subject} ${chart.name}`;
  const label = `${name}: now ${number(newest)}${suffix}, from ${number(low)} to ${number(high)}${suffix} in ${number(last - first)} s`;
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  for (const value of [low, high]) picture.append(shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }));
  picture.append(shape("polyline", { points: chart.points.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }));
  picture.append(shape("circle", { cx: x(times[times.length - 1]), cy: y(newest), r: 3 }));
  picture.append(shape("text", { x: LEFT, y: y(high) + 12 }, `${number(high)}${suffix}`));
  picture.append(shape("text", { x: LEFT, y: HEIGHT - 6 }, `${number(low)}${suffix}, ${number(last - first)} s ago`));
  picture.append(shape("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, "now"));
  const caption = document.createElement("figcaption");
  const title = document.createElement("span"), value = document.createElement("b");
  title.textContent = name;
  value.textContent = `${number(newest)}${suffix}`;
  caption.append(title, value);
  chart.figure.replaceChildren(caption, picture);
}

follow();
