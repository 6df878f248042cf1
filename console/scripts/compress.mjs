// Writes a Brotli and a gzip form beside each built text file, for the server to send as it is, and prints the sizes.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../dist", import.meta.url));
const FIRST_LOAD_JS_MAX = 300_000;

function* files(folder) {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else if (/\.(js|css|html|svg|json)$/.test(name)) yield path;
  }
}

const sizes = new Map();
let total = 0;
for (const path of files(root)) {
  const raw = readFileSync(path);
  const gzip = gzipSync(raw, { level: 9 });
  // The page itself is changed by the server for each answer.
  if (!path.endsWith(".html")) {
    const brotli = brotliCompressSync(raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    writeFileSync(`${path}.br`, brotli);
    writeFileSync(`${path}.gz`, gzip);
    // The program carries the compressed forms alone.
    total += brotli.length + gzip.length;
  }
  sizes.set(relative(root, path), gzip.length);
}

// What a first visit of Runs in one language loads: the entry and what it imports, the page, and the words.
const html = readFileSync(join(root, "index.html"), "utf8");
const first = new Set([...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map((match) => match[1]));
for (const name of first) {
  const text = readFileSync(join(root, name), "utf8");
  for (const match of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
    first.add(`assets/${match[1]}`);
}
const load = [...first].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
const scripts = [...sizes].filter(([name]) => name.endsWith(".js"));
for (const [name, size] of scripts)
  console.log(`${String(size).padStart(8)} ${first.has(name) ? "*" : " "} ${name}`);
console.log(`first load: ${load} bytes of JavaScript (gzip); embedded: ${total} bytes in all`);
if (load > FIRST_LOAD_JS_MAX) {
  console.error(`the first load is larger than ${FIRST_LOAD_JS_MAX} bytes`);
  process.exitCode = 1;
}
