// Pictures of every page, of a demonstration, in both languages and both themes at three widths. Those of the docs are made
// smaller and put beside the docs. Words on the command line choose: names of pages, languages, themes, widths.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { overflow, settled, World } from "./world.mjs";

const OUT = process.env.SCREENSHOTS ?? "../target/screenshots";
const DOCS = process.env.DOCS_IMAGES ?? "../docs/images";
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
];
const LANGUAGES = ["en", "zh"];
const THEMES = ["light", "dark"];
/** Bytes of a picture of the docs. */
const DOCS_BYTES_MAX = 150_000;
/** Which pictures the docs show: page, language, theme, width. */
const SHOWN = [
  ["overview", "en", "light", 1440],
  ["run-failed", "en", "light", 1440],
  ["jobs", "zh", "dark", 390],
];

const words = process.argv.slice(2);
/** Those of a dimension that the command line names, or all. */
const chosen = (all, name = (one) => one) => {
  const some = all.filter((one) => words.includes(String(name(one))));
  return some.length > 0 ? some : all;
};

/** Every page, by the name of its picture. */
async function pages(world) {
  const json = async (...args) => JSON.parse(await world.cli(...args, "-o", "json"));
  const newest = async (query, ns) =>
    (await json("runs", "-n", ns, "-Q", query, "--limit", "1")).items[0]?.id;
  const failed = await newest("job:import-orders state:final_failed", "linden/data");
  const retried = await newest("job:send-order-mails state:success attempt>1", "linden/shop").catch(() => {});
  const stuck = await newest("state:waiting", "linden/data");
  const running = await newest("job:rebuild-thumbnails state:running", "linden/shop");
  const data = "ns=linden%2Fdata";
  const orders = `/jobs/import-orders?${data}`;
  return {
    overview: "/?window=7d",
    "overview-namespace": `/?${data}`,
    runs: "/runs",
    "runs-failed": "/runs?q=state%3Afinal_failed",
    "runs-nothing": "/runs?q=label%3Ateam%3Dnobody",
    "run-failed": failed && `/runs/${failed}`,
    "run-retried": retried && `/runs/${retried}?tab=attempts`,
    "run-stuck": stuck && `/runs/${stuck}`,
    "run-running": running && `/runs/${running}`,
    "run-params": running && `/runs/${running}?tab=params`,
    "run-events": failed && `/runs/${failed}?tab=events`,
    queue: "/queue",
    jobs: "/jobs",
    "job-runs": orders,
    "job-cadence": `${orders}&tab=cadence`,
    "job-triggers": `${orders}&tab=triggers`,
    "job-versions": `${orders}&tab=versions`,
    "job-spec": `${orders}&tab=spec`,
    "job-run-now": "/jobs/rebuild-thumbnails?ns=linden%2Fshop&do=run",
    "editor-new": "/jobs/new",
    "editor-edit": `/jobs/import-orders/edit?${data}`,
    trigger: `/jobs/load-warehouse/triggers/nightly?${data}`,
    "trigger-paused": "/jobs/sync-carrier-nord/triggers/every?ns=linden%2Fwarehouse",
    "trigger-backfill": `/jobs/load-warehouse/triggers/nightly?${data}&do=backfill`,
    calendars: "/calendars",
    holidays: "/calendars/holidays?ns=linden",
    backfills: "/backfills",
    nodes: "/nodes",
    artifacts: "/artifacts",
    "admin-namespaces": "/admin/namespaces",
    "admin-namespace": "/admin/namespaces/linden%2Fshop",
    "admin-members": "/admin/members",
    "admin-tokens": "/admin/tokens",
    "admin-audit": "/admin/audit",
    "admin-cluster": "/admin/cluster",
    "admin-doctor": "/admin/doctor",
    me: "/me",
  };
}

/** The picture as WebP, made by the browser itself. */
async function webp(page, png) {
  for (const quality of [0.9, 0.8, 0.7, 0.55]) {
    const data = await page.evaluate(
      async ([png, quality]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), {
          width: image.naturalWidth,
          height: image.naturalHeight,
        });
        canvas.getContext("2d").drawImage(image, 0, 0);
        return canvas.toDataURL("image/webp", quality).split(",")[1];
      },
      [png.toString("base64"), quality],
    );
    const bytes = Buffer.from(data, "base64");
    if (bytes.length < DOCS_BYTES_MAX) return bytes;
  }
  throw new Error("a picture of the docs is too large");
}

const world = await World.start("demo");
const wrongs = [];
try {
  mkdirSync(OUT, { recursive: true });
  mkdirSync(DOCS, { recursive: true });
  // What waits for the node runs before the first picture.
  await world.until(
    async () =>
      JSON.parse(await world.cli("runs", "-A", "--state", "running", "-o", "json")).items.length > 1,
    "the demonstration runs something",
  );
  const there = Object.entries(await pages(world)).filter(([, path]) => path);
  const all = chosen(there, ([name]) => name);
  for (const language of chosen(LANGUAGES)) {
    for (const theme of chosen(THEMES)) {
      const page = await world.page({ language, theme, timezoneId: "Europe/Berlin" });
      for (const [name, path] of all) {
        let opened = false;
        for (const [width, height] of chosen(SIZES, ([width]) => width)) {
          const what = `${name}-${language}-${theme}-${width}`;
          await page.setViewportSize({ width, height });
          if (!opened) await page.goto(world.base + path);
          opened = true;
          await settled(page)
            .then(() => page.waitForFunction(() => !document.querySelector(".mantine-Skeleton-root")))
            .catch((error) => wrongs.push(`${what}: ${error.message}`));
          if ((await overflow(page)) > 0) wrongs.push(`${what}: scrolls sideways`);
          const shown = SHOWN.some((one) => one.join("-") === what);
          const png = await page.screenshot({ path: join(OUT, `${what}.png`) });
          if (shown) writeFileSync(join(DOCS, `${name}-${width}.webp`), await webp(page, png));
        }
        console.log(`${name} ${language} ${theme}`);
      }
      wrongs.push(...page.wrongs.map((wrong) => `${language} ${theme}: ${wrong}`));
      await page.context().close();
    }
  }
} finally {
  await world.stop();
}
for (const wrong of wrongs) console.log(wrong);
process.exit(wrongs.length === 0 ? 0 : 1);
