//! Tests that reports open in a real browser, offline, without an error, and with nothing beyond their edges.
//!
//! A headless Chromium opens each page in frames of the widths of phones and desktops, and a script beside them inspects the frames. Without a
//! Chromium, the tests are skipped with a note (`make peers` installs one).

use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Its name in Debian, elsewhere, and Google's.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// CSS px: a small phone, a common one, half a desktop and a wide window.
const WIDTHS: [u32; 4] = [320, 390, 800, 1400];

/// Opens each page at each width, and writes its problems.
const LOOK: &str = r#"
const { pages, widths, axe } = JSON.parse(document.getElementById("asked").textContent);
const listen = `<script>
  window.problems = [];
  addEventListener("error", event => problems.push("error: " + event.message));
  addEventListener("securitypolicyviolation", event => problems.push("would fetch " + event.blockedURI));
<\/script>`;
const frames = Object.entries(pages).flatMap(([name, text]) => widths.map(width => {
  const frame = document.createElement("iframe");
  frame.width = width;
  frame.height = 800;
  frame.style.border = 0;
  frame.srcdoc = text.replace("<head>", "<head>" + listen);
  document.body.append(frame);
  return { name, width, frame };
}));
// By keyboard: the marks of charts are read out, series hide and come back, tables sort, tabs change.
const use = page => {
  const problems = [];
  const press = (element, key) => element.dispatchEvent(new page.defaultView.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const live = page.querySelector(".live");
  for (const svg of page.querySelectorAll("svg.chart[tabindex]")) {
    if (!svg.getClientRects().length) continue;
    press(svg, "ArrowRight");
    const first = live.textContent;
    press(svg, "ArrowRight");
    if (!first) problems.push("says nothing of a mark");
    for (const entry of svg.querySelectorAll("[aria-pressed]")) {
      press(entry, "Enter");
      if (entry.getAttribute("aria-pressed") !== "false") problems.push("hides no series");
      press(entry, "Enter");
      if (entry.getAttribute("aria-pressed") !== "true") problems.push("shows a series no more");
    }
  }
  for (const table of page.querySelectorAll(".scroll table")) {
    const head = [...table.querySelectorAll("th")].at(-1);
    const sort = head.querySelector("button");
    if (!sort) continue;
    const before = table.tBodies[0].rows.length;
    sort.click();
    if (head.getAttribute("aria-sort") !== "ascending" || table.tBodies[0].rows.length !== before) problems.push("does not sort");
  }
  const sorted = [...page.querySelectorAll("th.figure button")].find(one => one.closest("table").tBodies[0].rows.length > 5);
  if (sorted) {
    const [head, { rows }] = [sorted.parentElement, sorted.closest("table").tBodies[0]];
    const order = ["10 µs", "900 ms", "1.5 s", "1,000 s", "", "none"];
    [...rows].slice(order.length).forEach(row => row.remove());
    const cells = () => [...rows].map(row => row.cells[head.cellIndex].textContent);
    [3, 5, 0, 4, 2, 1].forEach((which, at) => { rows[at].cells[head.cellIndex].textContent = order[which]; });
    head.removeAttribute("aria-sort");
    sorted.click();
    // An empty cell and a word both have no value, and keep their order.
    const found = cells().join(";"), wanted = "10 µs;900 ms;1.5 s;1,000 s;none;";
    if (found !== wanted) problems.push("sorts as " + found);
    sorted.click();
    const back = cells().join(";");
    if (back !== "1,000 s;1.5 s;900 ms;10 µs;none;") problems.push("sorts backwards as " + back);
  }
  const tabs = [...page.querySelectorAll("[role=tab]")];
  tabs.forEach(tab => {
    tab.click();
    const shown = [...page.querySelectorAll("[role=tabpanel]")].filter(panel => !panel.hidden);
    if (shown.length !== 1 || shown[0].id !== tab.getAttribute("aria-controls")) problems.push("opens another tab");
  });
  for (const choice of page.querySelectorAll(".waterfall [value=lane]")) {
    const list = choice.closest(".waterfall").querySelector("ol");
    const rows = () => [...list.children];
    const before = rows();
    choice.click();
    const lanes = rows().map(row => row.dataset.lane);
    const first = lanes.filter((lane, at) => lane !== lanes[at - 1]);
    if (new Set(first).size !== first.length || first.length !== list.querySelectorAll(".lane").length) problems.push("groups rows by connection as " + lanes);
    choice.parentElement.querySelector("[value=start]").click();
    if (list.querySelector(".lane") || rows().some((row, at) => row !== before[at])) problems.push("does not go back to the order of starts");
  }
  for (const row of [...page.querySelectorAll(".waterfall li.row")].filter(row => row.getClientRects().length).slice(0, 2)) {
    row.focus();
    if (page.activeElement !== row || live.textContent !== row.title) problems.push("says nothing of a request");
  }
  return problems;
};
const look = ({ name, width, frame }) => {
  const page = frame.contentDocument;
  const problems = [...frame.contentWindow.problems];
  const fetched = frame.contentWindow.performance.getEntriesByType("resource");
  problems.push(...fetched.map(one => "fetches " + one.name));
  page.querySelectorAll("details").forEach(one => { one.open = true; });
  const wide = page.scrollingElement.scrollWidth;
  if (wide > width) problems.push(`is ${wide} px wide`);
  for (const drawing of page.querySelectorAll("svg")) {
    const edge = drawing.getBoundingClientRect();
    if (edge.width === 0) continue;
    const texts = [];
    for (const text of drawing.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      texts.push([text.textContent, box]);
      if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 || box.bottom > edge.bottom + 1)
        problems.push("draws beyond its edge: " + text.textContent);
    }
    texts.forEach(([one, a], at) => texts.slice(at + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // A line of text is taller than its letters.
      if (across > 2 && down > 5) problems.push(`draws ${one} over ${other}`);
    }));
  }
  for (const link of page.querySelectorAll("nav.contents a"))
    if (!page.querySelector(link.getAttribute("href"))) problems.push("leads nowhere: " + link.textContent);
  if (name !== "broken") {
    if (!page.querySelector(".tiles li") && name !== "study") problems.push("has no tiles");
    const first = page.querySelector("figure.bars, figure.drawing")?.getBoundingClientRect().top + frame.contentWindow.scrollY;
    if (width > 1000 && !(first < 900)) problems.push(`begins its first picture at ${first}`);
    problems.push(...use(page));
  }
  if (name === "study" || name === "load") {
    const first = page.querySelector("figure.drawing")?.getBoundingClientRect().top;
    if (!(first < page.querySelector(".scroll table").getBoundingClientRect().top)) problems.push("has a table before its first picture");
    if (!page.querySelector(".ring")) problems.push("marks no knee");
  }
  if (name === "study") {
    if (!page.querySelector(".area")) problems.push("stacks no shares");
    if (page.querySelectorAll(".chart.wide").length !== 5) problems.push("lacks a chart");
  }
  if (page.getElementById("download")?.hidden !== false) problems.push("offers no data to save");
  return problems.map(problem => ({ name, width, problem }));
};
// What axe-core finds serious, in the widest and the narrowest frame of each page.
const judge = async ({ name, width, frame }) => {
  if (!axe || name === "broken" || ![390, 1400].includes(width)) return [];
  frame.contentDocument.head.append(Object.assign(frame.contentDocument.createElement("script"), { textContent: axe }));
  const { violations } = await frame.contentWindow.axe.run(frame.contentDocument, { resultTypes: ["violations"] });
  const serious = violations.filter(one => ["serious", "critical"].includes(one.impact));
  return serious.map(one => ({ name, width, problem: `${one.id}: ${one.help}: ${one.nodes[0].html}` }));
};
onload = async () => {
  const found = frames.flatMap(look);
  const judged = await Promise.all(frames.map(judge)).catch(error => [{ name: "axe-core", width: 0, problem: String(error) }]);
  document.getElementById("found").textContent = JSON.stringify([...found, ...judged.flat()]);
};
"#;

/// A study with a chart of each kind.
const STUDY: &str = r#"
name = "classroom"
question = "How much does it carry?"
repeats = 2
fresh = "repeat"
[fixed]
delivery = "load"
radio = "802.11b"
transfer_size = "1 kB"
load_time = "4 s"
timeout = "2 s"
[factors]
rate = [20, 60, 100, 140]
[[chart]]
title = "Transactions"
x = { factor = "rate", scale = "linear" }
x_title = "Requests per second"
y = { figure = "transaction_rate" }
joined = true
mark = { most = "transaction_rate", per = "response_time", label = "our knee" }
published = [{ name = "printed", points = [{ x = 85.0, y = 85, label = "their knee" }] }]
[[chart]]
title = "Response times"
x = { figure = "response_time", scale = "log" }
y = { share = "at-most" }
series = ["rate"]
[[chart]]
title = "Tail of response times"
x = { figure = "response_time", scale = "log" }
y = { share = "above", scale = "log" }
series = ["rate"]
[[chart]]
title = "Queues in overload"
x = { time = true }
y = { timelines = ["client_queue", "server_queue"] }
where = { rate = "140" }
[[chart]]
title = "Airtime"
x = { factor = "rate", scale = "linear" }
y = { stack = ["data_airtime_share", "ack_airtime_share", "beacon_airtime_share", "collision_airtime_share", "idle_airtime_share"], title = "Share of the time" }
"#;

pub(crate) fn chromium() -> Option<&'static str> {
    let there = |name: &&&str| {
        let output = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        output.is_ok_and(|ended| ended.success())
    };
    NAMES.iter().find(there).copied()
}

/// The script of axe-core, where it is installed.
fn axe() -> Option<String> {
    let script = "../../peers/axe-core/target/node_modules/axe-core/axe.min.js";
    let read = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
    if read.is_err() {
        eprintln!("skipped in part: axe-core is not installed (make peers installs it)");
    }
    read.ok()
}

/// The page at `address` as it is after its scripts; `options` are Chromium's.
fn opened(chromium: &str, sandbox: &Sandbox, address: &str, options: &[&str]) -> String {
    let output = Command::new(chromium)
        // Without its sandbox it starts as root too; the pages that it opens are ours.
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            "--virtual-time-budget=600000",
        ])
        .args(options)
        .arg(format!("--user-data-dir={}", sandbox.path().join("chromium").display()))
        .arg(format!("file://{}/{address}", sandbox.path().display()))
        .output()
        .unwrap();
    assert!(
        !output.stdout.is_empty(),
        "{chromium} opened nothing: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The problems of pages, by name, each with its text.
fn problems(chromium: &str, sandbox: &Sandbox, pages: &Value, options: &[&str]) -> Vec<Value> {
    let asked = json!({"pages": pages, "widths": WIDTHS, "axe": axe()})
        .to_string()
        .replace('<', "\\u003c");
    let around = format!(
        "<!doctype html><meta charset=\"utf-8\"><body><script type=\"application/json\" id=\"asked\">{asked}</script>\
         <pre id=\"found\"></pre><script>{LOOK}</script></body>"
    );
    sandbox.file("look.html", around);
    let page = opened(chromium, sandbox, "look.html", options);
    let found = page
        .split_once("<pre id=\"found\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .unwrap_or_else(|| panic!("{page}"));
    let found = found.0.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {found:?}"))
}

/// A report of each verb that writes one.
fn reports(sandbox: &Sandbox) -> Value {
    let example = |name: &str| -> PathBuf { Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name) };
    let (har, messages) = (example("shop.har"), example("service.jsonl"));
    let (har, messages) = (har.to_str().unwrap(), messages.to_str().unwrap());
    sandbox.data(&["run", "bulk", "--capture", "--out", "bulk"]);
    sandbox.data(&[
        "advise",
        har,
        "--link",
        "wpt/3g",
        "--repeats",
        "1",
        "--report",
        "advise.html",
    ]);
    let strategies = ["--strategy", "default,filtered", "--timing", "0s"];
    let tune = [
        "tune",
        messages,
        "--link",
        "published/dialup-56k",
        "--report",
        "tune.html",
    ];
    sandbox.data(&[&tune[..], &strategies].concat());
    let encode = ["encode", messages, "--link", "wpt/3g", "--report", "encode.html"];
    sandbox.data(&encode);
    let captures = std::fs::read_dir(sandbox.path().join("bulk/captures")).unwrap();
    let mut captures: Vec<PathBuf> = captures.map(|entry| entry.unwrap().path()).collect();
    captures.sort();
    let capture = captures
        .iter()
        .find(|path| path.to_string_lossy().contains("client"))
        .unwrap();
    sandbox.data(&["inspect", capture.to_str().unwrap(), "--html", "inspect.html"]);
    sandbox.file("classroom.toml", STUDY);
    sandbox.data(&["run", "classroom.toml", "--out", "classroom"]);
    let model = [
        "--world",
        "sim",
        "--service-time",
        "20ms",
        "--workers",
        "4",
        "--arrivals",
        "poisson",
    ];
    let sweep = [
        "load",
        "http://server/",
        "--sweep",
        "50..250/50",
        "--duration",
        "4s",
        "--report",
        "load.html",
    ];
    sandbox.data(&[&sweep[..], &model].concat());
    json!({
        "study": sandbox.read("classroom/report.html"),
        "load": sandbox.read("load.html"),
        "run": sandbox.read("bulk/report.html"),
        "advise": sandbox.read("advise.html"),
        "tune": sandbox.read("tune.html"),
        "encode": sandbox.read("encode.html"),
        "inspect": sandbox.read("inspect.html"),
    })
}

#[test]
fn reports_open_offline_without_an_error_and_overflow_at_no_width() {
    let Some(chromium) = chromium() else {
        return eprintln!("skipped: no Chromium is installed (make peers installs it)");
    };
    let sandbox = Sandbox::new();
    let mut pages = reports(&sandbox);
    // The script finds each kind of problem in a page that has it.
    let broken = "<html><head></head><body><script>fail()</script><p style=\"width: 2000px\">a</p>\
                  <svg width=\"50\" height=\"20\"><text x=\"40\" y=\"10\">out of it</text></svg>\
                  <svg width=\"50\" height=\"20\"><text y=\"15\">one</text><text y=\"15\">two</text></svg>\
                  <nav class=\"contents\"><a href=\"#none\">gone</a></nav></body></html>";
    pages["broken"] = broken.into();
    let found = problems(chromium, &sandbox, &pages, &[]);
    let (of_broken, others): (Vec<Value>, Vec<Value>) = found.into_iter().partition(|one| one["name"] == "broken");
    for kind in [
        "error: ",
        "is 2",
        "draws beyond its edge: out of it",
        "offers no data to save",
        "draws one over two",
        "leads nowhere: gone",
    ] {
        let many = of_broken
            .iter()
            .filter(|one| one["problem"].as_str().unwrap().contains(kind))
            .count();
        assert_eq!(many, WIDTHS.len(), "{kind}: {of_broken:?}");
    }
    assert!(others.is_empty(), "{others:#?}");
    pages.as_object_mut().unwrap().remove("broken");
    let dark = problems(chromium, &sandbox, &pages, &["--blink-settings=preferredColorScheme=0"]);
    assert!(dark.is_empty(), "in the dark: {dark:#?}");
}

#[test]
fn the_fragment_restores_the_link_the_order_and_the_row() {
    let Some(chromium) = chromium() else {
        return eprintln!("skipped: no Chromium is installed (make peers installs it)");
    };
    let sandbox = Sandbox::new();
    let har = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop.har");
    let links = [
        "--link",
        "wpt/3g,wpt/cable",
        "--repeats",
        "1",
        "--report",
        "advise.html",
    ];
    sandbox.data(&[&["advise", har.to_str().unwrap()][..], &links].concat());
    let page = opened(
        chromium,
        &sandbox,
        "advise.html#link=wpt/cable&row=17&sort=saved&table=0.0.0",
        &[],
    );
    let section = |link: &str| {
        let (_, rest) = page.split_once(&format!("data-link=\"{link}\"")).unwrap();
        rest.split_once("</section>").unwrap().0
    };
    let is_hidden = |link| section(link).split('>').next().unwrap().contains("hidden");
    assert!(is_hidden("wpt/3g") && !is_hidden("wpt/cable"));
    let rows: Vec<&str> = section("wpt/cable").split("<li class=\"row").skip(1).collect();
    let value = |row: &&str, name: &str| {
        row.split_once(name)
            .and_then(|(_, rest)| rest.split('"').next())
            .map(str::to_owned)
    };
    let saved: Vec<f64> = rows
        .iter()
        .map(|row| value(row, "data-saved=\"").unwrap().parse().unwrap())
        .collect();
    assert!(
        saved.len() > 17 && saved.is_sorted_by(|one, next| one >= next),
        "{saved:?}"
    );
    // The row is the seventeenth to start, wherever it is now.
    let plain = sandbox.read("advise.html");
    let (_, plain) = plain.split_once("data-link=\"wpt/cable\"").unwrap();
    let seventeenth = value(&plain.split("<li class=\"row").nth(17).unwrap(), "title=\"").unwrap();
    let (_, live) = page.split_once("class=\"live\" aria-live=\"polite\">").unwrap();
    let text = |html: &str| {
        html.replace("&#10;", "\n")
            .replace("&#39;", "'")
            .replace("&quot;", "\"")
            .replace("&#34;", "\"")
    };
    assert_eq!(text(live.split('<').next().unwrap()), text(&seventeenth));
    assert!(
        page.contains("aria-sort=\"descending\""),
        "the table is in its order again"
    );
}
