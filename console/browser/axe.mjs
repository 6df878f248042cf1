// What axe finds serious or critical on pages, in both themes.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { settled } from "./world.mjs";

const AXE = readFileSync(
  fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)),
  "utf8",
);

/** Looks at each page. An entry is a path, or a path and what is done there first. */
export async function checkPages(world, entries, found) {
  for (const theme of ["light", "dark"]) {
    // Axe is put into the page by the test; the page's own policy is tested by all other flows.
    const page = await world.page({ theme, bypassCSP: true });
    for (const entry of entries) {
      const [path, act] = [entry].flat();
      await page.goto(world.base + path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await settled(page);
      if (act) {
        await act(page);
        await named(page);
      }
      await check(page, `${path} ${theme}`, found);
    }
    await page.context().close();
  }
}

/** Until what was opened has its name: it gets it right after it is shown. */
async function named(page) {
  await page.getByRole("dialog").first().waitFor();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[role="dialog"]')].every(
      (dialog) => dialog.hasAttribute("aria-labelledby") || dialog.hasAttribute("aria-label"),
    ),
  );
}

export async function check(page, where, found) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  const grave = violations.filter((each) => ["serious", "critical"].includes(each.impact));
  for (const each of grave) {
    const nodes = each.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`);
    found.push(`${where}: ${each.id}: ${nodes.join(" | ")}`);
  }
}
