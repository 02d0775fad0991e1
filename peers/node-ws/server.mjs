// A WebSocket server on Node's ws: delivers messages, or sends back what it gets. The contract is ../README.md's.

import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const require = createRequire(new URL("target/", import.meta.url));
const { WebSocketServer } = require("ws");

/** permessage-deflate as LASTMILE_MESSAGE_COMPRESSION has it; false for identity. */
function extension() {
  const written = process.env.LASTMILE_MESSAGE_COMPRESSION;
  if (written === "identity") return false;
  const settings = /^deflate:(\d)\/w(\d+)\/m(\d)(\/no-takeover)?$/.exec(written);
  if (settings === null) {
    console.error(`LASTMILE_MESSAGE_COMPRESSION is ${written}; it is identity or like deflate:6/w15/m8 or deflate:6/w15/m8/no-takeover`);
    process.exit(2);
  }
  const [level, windowBits, memLevel] = settings.slice(1, 4).map(Number);
  const withoutTakeover = settings[4] !== undefined;
  // What is not asked for is left open: where ws is told a window or a takeover, even the usual one, it refuses the whole handshake of
  // a client that offers another.
  const limit = windowBits === 15 ? undefined : windowBits;
  const noTakeover = withoutTakeover ? true : undefined;
  return {
    zlibDeflateOptions: { level, memLevel },
    serverMaxWindowBits: limit,
    clientMaxWindowBits: limit,
    serverNoContextTakeover: noTakeover,
    clientNoContextTakeover: noTakeover,
    // Every message is compressed: ws would leave those below 1,024 bytes.
    threshold: 0,
  };
}

/** What is delivered: each message with its time in seconds, where it has one. */
function messages() {
  const lines = readFileSync(join(process.env.LASTMILE_DATA, "messages.jsonl"), "utf8").split("\n");
  return lines.filter(Boolean).map((line) => {
    const { time, opcode, data } = JSON.parse(line);
    return { time, data: opcode === 1 ? data : Buffer.from(data, "base64") };
  });
}

const sent = (socket, data, options) =>
  new Promise((resolve, reject) => socket.send(data, options, (error) => (error ? reject(error) : resolve())));

function deliver(all) {
  return async (socket) => {
    const opened = performance.now();
    try {
      for (const { time, data } of all) {
        if (time !== undefined) await sleep(opened + time * 1000 - performance.now());
        await sent(socket, data);
      }
      socket.close(1000);
    } catch {
      socket.terminate();
    }
  };
}

function echo(socket) {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
}

/** The server that the configuration of the data folder makes: a module of that text, at the port that is given. */
async function configured() {
  const { LASTMILE_DATA: data, LASTMILE_STATE: state, LASTMILE_HOST: host, LASTMILE_PORT: port } = process.env;
  const printed = readFileSync(join(data, "configuration"), "utf8");
  const placed = printed.replace("port: 8080,", `host: "${host}", port: ${port},`);
  if (placed === printed) throw new Error(`${data}/configuration has no "port: 8080,"`);
  // Modules are looked for beside the one that imports them.
  symlinkSync(fileURLToPath(new URL("target/node_modules", import.meta.url)), join(state, "node_modules"));
  writeFileSync(join(state, "configured.mjs"), `${placed}\nexport default wss;\n`);
  return (await import(join(state, "configured.mjs"))).default;
}

if (process.argv[2] === "--version") {
  console.log(`Node ${process.versions.node}, ws: ${require("ws/package.json").version}`);
} else if (process.env.LASTMILE_OPERATION === "configured") {
  const server = await configured();
  server.on("connection", echo);
  if (server.address() !== null) console.log("READY");
  else server.on("listening", () => console.log("READY"));
  process.on("SIGTERM", () => process.exit(0));
} else {
  const handlers = { deliver: () => deliver(messages()), echo: () => echo };
  const handler = handlers[process.env.LASTMILE_OPERATION]();
  // No limits of the library's own: what is asked is what delivering costs.
  const server = new WebSocketServer(
    {
      host: process.env.LASTMILE_HOST,
      port: Number(process.env.LASTMILE_PORT),
      perMessageDeflate: extension(),
      maxPayload: 0,
    },
    () => console.log("READY"),
  );
  server.on("connection", (socket) => {
    socket.on("error", () => socket.terminate());
    handler(socket);
  });
  process.on("SIGTERM", () => process.exit(0));
}
