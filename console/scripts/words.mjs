// Fails on a key that is missing in one language, unused in the sources, or used without being there.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../src", import.meta.url));

function* files(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else yield path;
  }
}

const all = [...files(root)];
const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

function* flat(value, prefix) {
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === "string") yield [`${prefix}${key}`, inner];
    else yield* flat(inner, `${prefix}${key}.`);
  }
}

function words(language) {
  const found = new Map();
  for (const path of all.filter((each) => each.endsWith(`words.${language}.json`))) {
    const feature = /features\/([^/]+)\//.exec(path)?.[1];
    for (const [key, text] of flat(
      JSON.parse(readFileSync(path, "utf8")),
      feature ? `${camel(feature)}.` : "",
    )) {
      found.set(key, text);
    }
  }
  return found;
}

const problems = [];
const [en, zh] = [words("en"), words("zh")];
// Chinese has one plural form.
const base = (key) => key.replace(/_(one|other)$/, "");
const placeholders = (text) =>
  [...text.matchAll(/{{(\w+)}}/g)]
    .map((match) => match[1])
    .sort()
    .join();
for (const [key, text] of en) {
  const twin = zh.get(key);
  if (twin === undefined && !key.endsWith("_one")) problems.push(`${key}: missing in Chinese`);
  if (twin !== undefined && placeholders(twin) !== placeholders(text))
    problems.push(`${key}: other placeholders in Chinese`);
  if (key.endsWith("_one") && !en.has(`${base(key)}_other`)) problems.push(`${key}: has no _other`);
}
for (const key of zh.keys()) if (!en.has(key)) problems.push(`${key}: missing in English`);

const source = all
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".test.ts"))
  .map((path) => readFileSync(path, "utf8"));
const literals = new Set();
const patterns = [];
for (const text of source) {
  for (const match of text.matchAll(/\bt\(\s*"([\w.]+)"/g)) literals.add(match[1]);
  for (const match of text.matchAll(/\bt\(\s*`([^`]+)`/g)) {
    patterns.push(new RegExp(`^${match[1].replaceAll(".", "\\.").replace(/\$\{[^}]+\}/g, "[\\w]+")}$`));
  }
  // A choice between two keys.
  for (const match of text.matchAll(/\bt\([^()"]*\?\s*"([\w.]+)"\s*:\s*"([\w.]+)"/g))
    literals.add(match[1]).add(match[2]);
}
const keys = new Set([...en.keys()].map(base).concat([...en.keys()]));
for (const literal of literals) if (!keys.has(literal)) problems.push(`${literal}: used, but not there`);
for (const key of en.keys()) {
  const isUsed =
    literals.has(key) ||
    literals.has(base(key)) ||
    patterns.some((pattern) => pattern.test(key) || pattern.test(base(key)));
  if (!isUsed) problems.push(`${key}: unused`);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${en.size} English and ${zh.size} Chinese texts`);
