// What does this Node's zlib make of messages? It is Chromium's, whose sizes are not those of stock zlib. The contract is ../README.md's.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import zlib from "node:zlib";

const tell = (event) => console.log(JSON.stringify(event));
const [, ...options] = process.env.LASTMILE_MESSAGE_COMPRESSION.split("/");
const [level, windowBits, memLevel] = /^deflate:(\d)\/w(\d+)\/m(\d)/.exec(process.env.LASTMILE_MESSAGE_COMPRESSION).slice(1).map(Number);
const withoutTakeover = options.includes("no-takeover");
const strategy = options.includes("huffman-only") ? zlib.constants.Z_HUFFMAN_ONLY : zlib.constants.Z_DEFAULT_STRATEGY;

tell({ event: "hello", version: `Node ${process.versions.node}, zlib ${process.versions.zlib}` });
const lines = readFileSync(join(process.env.LASTMILE_DATA, "messages.jsonl"), "utf8").split("\n").filter(Boolean);
const deflate = zlib.createDeflateRaw({ level, windowBits, memLevel, strategy });
let bytes = 0;
deflate.on("data", (piece) => (bytes += piece.length));
for (const { opcode, data } of lines.map((line) => JSON.parse(line))) {
  deflate.write(Buffer.from(data, opcode === 1 ? "utf8" : "base64"));
  await new Promise((flushed) => deflate.flush(zlib.constants.Z_SYNC_FLUSH, flushed));
  // Without the four bytes that end a flush (RFC 7692 section 7.2.1).
  tell({ event: "message", bytes: bytes - 4 });
  bytes = 0;
  if (withoutTakeover) deflate.reset();
}
tell({ event: "end" });
