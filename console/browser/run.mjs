// Runs the flows one after the other, each in a fresh browser profile, against one server. Names on the command line choose.
import { mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { World } from "./world.mjs";

const out = fileURLToPath(new URL("./out/", import.meta.url));
mkdirSync(out, { recursive: true });
const wanted = process.argv.slice(2);
const names = readdirSync(new URL("./flows/", import.meta.url))
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.replace(".mjs", ""))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .sort();

let failures = 0;
for (const name of names) {
  const { flow } = await import(`./flows/${name}.mjs`);
  const started = Date.now();
  const world = await World.start();
  try {
    await flow(world);
    for (const context of world.browser.contexts()) {
      for (const page of context.pages()) if (page.wrongs?.length) throw new Error(page.wrongs.join("\n"));
    }
    console.log(`ok    ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failures += 1;
    console.log(`FAIL  ${name}: ${error.stack}`);
    let index = 0;
    for (const context of world.browser.contexts()) {
      for (const page of context.pages()) {
        if (page.wrongs?.length) console.log(page.wrongs.join("\n"));
        await page.screenshot({ path: `${out}${name}-${index++}.png` }).catch(() => {});
      }
    }
  } finally {
    await world.stop();
  }
}
console.log(failures === 0 ? `${names.length} flows` : `${failures} of ${names.length} flows failed`);
process.exit(failures === 0 ? 0 : 1);
