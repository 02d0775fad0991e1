// Records small pages in Chromium, as DevTools saves them ("Save all as HAR with content"), each with a way in which a browser answers
// without the network. What the server was asked for, and the bytes of its bodies, are written beside it: `log._served`.
//
//     node --experimental-websocket record.mjs      (Node.js 20 or later; `chromium` must be on the path)

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DEBUGGING = 9222;
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const words = (bytes) => Array.from({ length: bytes / 5 }, (_, at) => `w${(at * at) % 997} `).join("").slice(0, bytes);
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const document = (head) => `<!doctype html><meta charset=utf-8>${head}<p>${words(1000)}`;
const noIcon = '<link rel=icon href="data:,">';
const script = "<script src=/app.js></script>";

const pages = {
  // An icon that is named twice: the second time, the disk cache answers.
  "disk-cache": document(`<link rel=icon href=/icon.png><link rel=stylesheet href=/a.css><img src=/icon.png>${script}`),
  // A page that is loaded again: the memory cache answers.
  "memory-cache": document(`${noIcon}<link rel=stylesheet href=/a.css>${script}`),
  "service-worker": document(`${noIcon}${script}<script>navigator.serviceWorker.register("/worker.js")</script>`),
  redirect: document(`${noIcon}<script src=/old.js></script>`),
  "not-modified": document(
    `${noIcon}<script>fetch("/data.json").then((r) => r.text()).then(() => fetch("/data.json", { cache: "no-cache" }))</script>`,
  ),
  preload: document(
    `${noIcon}<link rel=preload as=script href=/app.js><link rel=preload as=fetch crossorigin href=/data.json>${script}<script>fetch("/data.json")</script>`,
  ),
  "in-page": document(
    `${noIcon}<img src="data:image/png;base64,${pixel}">${script}<script>fetch(URL.createObjectURL(new Blob(["x".repeat(5000)])))</script>`,
  ),
};

// These have been loaded before they are recorded.
const again = ["memory-cache", "service-worker"];

const worker = `
addEventListener("install", (event) => event.waitUntil(caches.open("files").then((files) => files.add("/app.js")).then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.respondWith(caches.match(event.request).then((known) => known ?? fetch(event.request))));`;

const keep = { "cache-control": "max-age=86400" };
const files = {
  "/a.css": ["text/css", `p { margin: 0 } /* ${words(1500)} */`, keep],
  "/app.js": ["text/javascript", `var ran = 1; // ${words(2000)}`, keep],
  "/icon.png": ["image/png", Buffer.from(pixel, "base64"), keep],
  "/data.json": ["application/json", JSON.stringify({ text: words(1800) }), { ...keep, etag: '"1"' }],
  "/worker.js": ["text/javascript", worker, {}],
};

function serve(name, served) {
  const answer = (path, response, status, body, headers) => {
    // The browser's own look for a newer worker, and DevTools' for a workspace, are no requests of the page.
    if (path !== "/worker.js" && !path.startsWith("/.well-known/")) served.push({ path, bytes: Buffer.byteLength(body) });
    response.writeHead(status, { ...headers, ...(status === 304 ? {} : { "content-length": Buffer.byteLength(body) }) }).end(body);
  };
  return createServer((request, response) => {
    const path = request.url;
    if (path === "/") return answer(path, response, 200, pages[name], { "content-type": "text/html", "cache-control": "no-store" });
    if (path === "/old.js") return answer(path, response, 302, "", { location: "/app.js" });
    const [type, body, headers] = files[path] ?? [];
    if (!type) return answer(path, response, 404, "", {});
    if (headers.etag && request.headers["if-none-match"] === headers.etag) return answer(path, response, 304, "", { etag: headers.etag });
    return answer(path, response, 200, body, { "content-type": type, ...headers });
  });
}

// A session with one target of the browser.
async function session(target) {
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const answers = new Map();
  await new Promise((done, failed) => Object.assign(socket, { onopen: done, onerror: failed }));
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    if (id) answers.get(id)(error ? Promise.reject(new Error(error.message)) : result);
  };
  let last = 0;
  return (method, params = {}) => {
    const id = ++last;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done) => answers.set(id, done));
  };
}

// In DevTools: its own archive of the network panel's requests, with their contents.
const archive = `(async () => {
  const [{ NetworkLog }, HAR] = await Promise.all(["logs/logs.js", "har/har.js"].map((path) => import("devtools://devtools/bundled/models/" + path)));
  const requests = NetworkLog.NetworkLog.instance().requests();
  const log = await HAR.Log.Log.build(requests, { sanitize: true });
  for (const [at, request] of requests.entries()) {
    const data = await request.requestContentData();
    if ("error" in data) continue;
    const content = log.entries[at].response.content;
    if (data.isTextContent) content.text = data.text;
    else Object.assign(content, { text: data.base64, encoding: "base64" });
  }
  return log;
})()`;

async function record(name) {
  const profile = mkdtempSync(join(tmpdir(), "record-"));
  const served = [];
  const server = serve(name, served);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const flags = ["--headless=new", `--remote-debugging-port=${DEBUGGING}`, "--remote-allow-origins=*", "--no-sandbox", "--no-first-run", "--no-proxy-server"];
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-gpu", "--disable-sync", `--user-data-dir=${profile}`];
  const chromium = spawn("chromium", [...flags, ...quiet, "about:blank"], { stdio: "ignore" });
  const ended = new Promise((done) => chromium.on("exit", done));
  const ask = async (path, method = "GET") => (await fetch(`http://127.0.0.1:${DEBUGGING}${path}`, { method })).json();
  for (let tries = 0; tries < 100 && !(await ask("/json/version").catch(() => null)); tries++) await sleep(200);
  const target = (await ask("/json/list")).find(({ type }) => type === "page");
  const page = await session(target);
  const load = async () => {
    await page("Page.navigate", { url: `http://localhost:${server.address().port}/` });
    await sleep(3000);
  };
  if (again.includes(name)) await load();
  const tools = `devtools://devtools/bundled/devtools_app.html?ws=127.0.0.1:${DEBUGGING}/devtools/page/${target.id}&panel=network`;
  const devtools = await session(await ask(`/json/new?${encodeURIComponent(tools)}`, "PUT"));
  await sleep(5000);
  served.length = 0;
  await load();
  const { result, exceptionDetails } = await devtools("Runtime.evaluate", { expression: archive, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
  const log = { ...result.value, _served: served };
  writeFileSync(new URL(`${name}.har`, import.meta.url), `${JSON.stringify({ log })}\n`);
  console.log(name, served.map(({ path, bytes }) => `${path} ${bytes}`).join(", "));
  chromium.kill();
  server.closeAllConnections();
  server.close();
  await ended;
  await sleep(2000);
  rmSync(profile, { recursive: true, force: true });
}

for (const name of Object.keys(pages)) await record(name);
process.exit(0);
