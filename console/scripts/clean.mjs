// Empties dist, except for the committed file that keeps the folder.
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
for (const name of readdirSync(dist)) if (name !== ".gitignore") rmSync(dist + name, { recursive: true });
