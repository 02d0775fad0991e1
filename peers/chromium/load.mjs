// Loads a page in a headless Chromium some number of times, and reports each request with its times. The contract is ../README.md's.
//
// Chromium is driven over its debugging pipe (Chrome DevTools Protocol). Each load has a browser context of its own, and so empty caches
// and no connections. A small warm-up page is loaded first: what a browser does once is in no page's time.

import { spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const environment = process.env;
const tell = (event) => writeFileSync(1, `${JSON.stringify(event)}\n`);
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

const page = JSON.parse(readFileSync(join(environment.LASTMILE_DATA, "page.json"), "utf8"));
const certificate = new X509Certificate(readFileSync(join(environment.LASTMILE_DATA, "certificate.der")));
const quiet = Number(environment.LASTMILE_QUIET_MILLISECONDS);
const timeout = 1000 * Number(environment.LASTMILE_TIMEOUT_SECONDS);

// What a fresh profile would send or do by itself, and what would keep a page from loading over addresses of a private network.
const features = [
  "AutoupgradeMixedContent",
  "CertificateTransparencyComponentUpdater",
  "DialMediaRouteProvider",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LocalNetworkAccessChecks",
  "MediaRouter",
  "OptimizationGuideModelDownloading",
  "OptimizationHints",
  "Translate",
];

function flags() {
  const spki = createHash("sha256").update(certificate.publicKey.export({ type: "spki", format: "der" })).digest("base64");
  const rules = Object.entries(page.hosts).map(([host, address]) => `MAP ${host} ${address}`);
  return [
    "--headless=new",
    "--remote-debugging-pipe",
    `--user-data-dir=${join(environment.LASTMILE_STATE, "profile")}`,
    `--host-resolver-rules=${[...rules, "MAP * ~NOTFOUND"].join(",")}`,
    `--ignore-certificate-errors-spki-list=${spki}`,
    `--disable-features=${features.join(",")}`,
    ...(environment.LASTMILE_PROTOCOL === "http/1.1" ? ["--disable-http2"] : []),
    "--disable-quic",
    "--no-proxy-server",
    // Root has no sandbox, nor has the only user of a user namespace; the page can reach nothing but its own servers.
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-gpu",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    // Lighthouse's desktop screen.
    "--window-size=1350,940",
    "about:blank",
  ];
}

// Chromium's end of the pipe: messages are JSON, separated by NUL.
class Browser {
  constructor() {
    this.process = spawn("chromium", flags(), { stdio: ["ignore", "ignore", "inherit", "pipe", "pipe"] });
    this.ended = new Promise((done) => this.process.on("exit", done));
    this.answers = new Map();
    this.listener = () => {};
    this.last = 0;
    let parts = [];
    this.process.stdio[4].on("data", (piece) => {
      let begin = 0;
      for (let end; (end = piece.indexOf(0, begin)) >= 0; begin = end + 1) {
        const message = Buffer.concat([...parts, piece.subarray(begin, end)]).toString();
        parts = [];
        this.receive(JSON.parse(message));
      }
      parts.push(piece.subarray(begin));
    });
    this.process.stdio[3].on("error", () => {});
  }

  receive(message) {
    if (message.id === undefined) return this.listener(message);
    const { done, failed, method } = this.answers.get(message.id);
    this.answers.delete(message.id);
    if (message.error) failed(new Error(`${method}: ${message.error.message}`));
    else done(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((done, failed) => this.answers.set(id, { done, failed, method }));
  }
}

// One load: what its targets (the page, frames of other sites, workers) report.
class Load {
  constructor(browser, index, expected) {
    Object.assign(this, { browser, index, expected: new Set(expected), open: new Map(), seen: new Set() });
    this.sessions = new Set();
    this.loaded = false;
    this.changed = Date.now();
    browser.listener = (message) => this.hear(message);
  }

  tell(event, fields) {
    if (this.index !== null) tell({ event, load: this.index, ...fields });
  }

  // Reports the network of a target, and of those that it starts.
  async attach(sessionId, type) {
    this.sessions.add(sessionId);
    const send = (method, params) => this.browser.send(method, params, sessionId);
    const steps = [
      send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
      send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
    ];
    const throttled = Number(environment.LASTMILE_CPU_SLOWDOWN);
    if (type === "page" || type === "iframe") {
      steps.push(send("Page.enable"), send("Network.setBypassServiceWorker", { bypass: true }));
      if (throttled !== 1) steps.push(send("Emulation.setCPUThrottlingRate", { rate: throttled }));
    }
    // A target may have ended meanwhile, and not every kind has every domain.
    await Promise.allSettled(steps);
    await send("Runtime.runIfWaitingForDebugger").catch(() => {});
  }

  hear({ method, params, sessionId }) {
    if (method === "Target.attachedToTarget" && this.sessions.has(sessionId)) {
      return this.attach(params.sessionId, params.targetInfo.type);
    }
    if (!this.sessions.has(sessionId)) return;
    const heard = this[method];
    if (heard) heard.call(this, params, sessionId);
  }

  "Network.requestWillBeSent"(params) {
    const { requestId: id, request, timestamp: time, redirectResponse, initiator, type } = params;
    if (!/^https?:/.test(request.url)) return;
    if (redirectResponse && this.open.has(id)) {
      this.respond(id, redirectResponse, time);
      this.finish(id, "finished", { time, bytes: redirectResponse.encodedDataLength });
    }
    // The session of a frame repeats what its parent's has reported.
    const leg = `${id} ${request.url}`;
    if (this.seen.has(leg)) return;
    this.seen.add(leg);
    this.open.set(id, request.url);
    this.changed = Date.now();
    const frames = initiator.stack?.callFrames ?? [];
    const by = { type: initiator.type, url: initiator.url ?? frames[0]?.url ?? null };
    this.tell("request", { id, url: request.url, method: request.method, kind: type ?? null, time, initiator: by, priority: request.initialPriority });
  }

  "Network.dataReceived"() {
    this.changed = Date.now();
  }

  "Network.responseReceived"({ requestId: id, response, timestamp }) {
    if (this.open.has(id)) this.respond(id, response, timestamp);
  }

  "Network.loadingFinished"({ requestId: id, timestamp: time, encodedDataLength: bytes }) {
    this.finish(id, "finished", { time, bytes });
  }

  "Network.loadingFailed"({ requestId: id, timestamp: time, errorText: error, canceled }) {
    this.finish(id, "failed", { time, error, canceled: canceled ?? false });
  }

  "Page.domContentEventFired"({ timestamp: time }, sessionId) {
    if (sessionId === this.main && this.navigated) this.tell("dom-content-loaded", { time });
  }

  "Page.loadEventFired"({ timestamp: time }, sessionId) {
    if (sessionId !== this.main || !this.navigated) return;
    this.loaded = true;
    this.changed = Date.now();
    this.tell("loaded", { time });
  }

  respond(id, response, time) {
    const { url, status, protocol, connectionId: connection, timing } = response;
    const cached = Boolean(response.fromDiskCache || response.fromPrefetchCache || response.fromServiceWorker);
    const sent = timing ? { begun: timing.requestTime, sent: timing.requestTime + timing.sendStart / 1000 } : {};
    const head = timing && timing.receiveHeadersEnd >= 0 ? timing.requestTime + timing.receiveHeadersEnd / 1000 : null;
    this.tell("response", { id, url, status, protocol, connection, cached, time, ...sent, head });
  }

  finish(id, event, fields) {
    const url = this.open.get(id);
    if (url === undefined) return;
    this.open.delete(id);
    this.expected.delete(url.replace(/#.*/, ""));
    this.changed = Date.now();
    this.tell(event, { id, ...fields });
  }

  // Why the load is over; undefined while it goes on.
  over(deadline) {
    if (this.loaded && this.open.size === 0) {
      if (this.expected.size === 0) return "all";
      if (Date.now() - this.changed >= quiet) return "quiet";
    }
    if (Date.now() - this.changed >= STALLED) return "stalled";
    return Date.now() > deadline ? "timeout" : undefined;
  }

  async run(url) {
    const { browser } = this;
    const { browserContextId } = await browser.send("Target.createBrowserContext");
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    this.main = sessionId;
    await this.attach(sessionId, "page");
    // Starts the renderer's scripts, styles and layout.
    const expression = "document.body.innerHTML = '<style>p { color: red }</style><p>a</p>'; document.body.offsetHeight";
    await browser.send("Runtime.evaluate", { expression }, sessionId);
    await sleep(SETTLING);
    this.changed = Date.now();
    const deadline = Date.now() + timeout;
    this.navigated = true;
    const navigation = browser.send("Page.navigate", { url }, sessionId);
    navigation.catch(() => {});
    let why;
    while ((why = this.over(deadline)) === undefined) await sleep(POLLING);
    this.tell("complete", { why });
    await browser.send("Target.disposeBrowserContext", { browserContextId });
    return why;
  }
}

// In milliseconds, our own choices: until a new tab is idle, between looks at a load, until its connections are closed, and until a load in
// which nothing happens is given up (longer than TCP waits for a lost segment on a slow link).
const SETTLING = 300;
const POLLING = 5;
const CLOSING = 500;
const STALLED = 90_000;

const browser = new Browser();
process.on("SIGTERM", () => {
  browser.process.kill("SIGKILL");
  process.exit(143);
});
browser.ended.then((code) => {
  if (!browser.closing) {
    console.error(`Chromium ended with ${code} before the page was loaded`);
    process.exit(1);
  }
});

const { product } = await browser.send("Browser.getVersion");
tell({ event: "hello", version: product });
const warm = await new Load(browser, null, []).run(page.warm_up);
if (warm !== "all") console.error(`the warm-up page was given up: ${warm}`);
for (let index = 0; index < Number(environment.LASTMILE_REPEATS); index++) {
  await sleep(CLOSING);
  tell({ event: "begin", load: index });
  await new Load(browser, index, page.resources).run(page.url);
}
browser.closing = true;
browser.send("Browser.close").catch(() => {});
await browser.ended;
tell({ event: "end" });
process.exit(0);
