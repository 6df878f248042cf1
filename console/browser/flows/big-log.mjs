import { equal, holds } from "../world.mjs";

const LINES = 1_000_000;

/** A log of a million lines opens at its end, is searched whole, and is read from where a match is. */
export async function flow(world) {
  const id = await world.submit("--name", "big", "--", "seq", "-f", "line %.0f", String(LINES));
  await world.cli("wait", id);
  const page = await world.page();
  const begun = Date.now();
  await page.goto(`${world.base}/runs/${id}`);
  const log = page.getByRole("log", { name: "Log", exact: true });
  const line = (number) => log.getByText(`line ${number}`, { exact: true });
  await line(LINES).waitFor();
  await page.getByText("Complete.").waitFor();
  await page.getByText("1,000,000 lines").waitFor();
  const opened = Date.now() - begun;
  const kept = await page.evaluate(() => document.querySelector(".ms-log").scrollHeight);
  holds(kept < LINES * 10, "a part of it is loaded");

  // The search looks at all of it, and leads to what is not loaded.
  const find = page.getByLabel("Find in the log");
  await find.fill("line 123456");
  await page.getByText("1 match", { exact: true }).waitFor();
  await find.press("Enter");
  await line(123456).waitFor();
  await page.getByRole("button", { name: "Link to line 123456", exact: true }).click();
  await page.waitForURL(/line=/);
  await find.fill("line 52345");
  await page.getByText("11 matches").waitFor();
  await find.press("Enter");
  await page.getByText("1 of 11").waitFor();
  await line(52345).waitFor();
  await page.getByRole("button", { name: "Next match" }).click();
  await page.getByText("2 of 11").waitFor();
  await line(523450).waitFor();

  // Upwards, earlier lines come without a hole, and what is read stays where it is.
  const rest = page.getByRole("button", { name: /lines before this: load/ });
  const before = await rest.textContent();
  let first = { top: 0, worst: 0, holes: 0 };
  await world.until(async () => {
    first = await upwards(page, 60, 20_000);
    return (await rest.textContent()) !== before;
  }, "earlier lines are loaded");
  const second = await upwards(page, 20, 400);
  equal([first.holes, second.holes], [0, 0], "rows that do not follow each other");
  holds(second.top <= first.top && second.top > first.top - 2000, `${second.top} is not near ${first.top}`);
  console.log(
    `      opened in ${opened} ms, longest frame ${Math.round(Math.max(first.worst, second.worst))} ms`,
  );

  // The address alone leads there again.
  await find.fill("");
  const url = page.url();
  await page.goto(`${world.base}/runs`);
  await page.goto(url);
  await line(123456).waitFor();
}

/** Scrolls up; the first line that is shown then, the longest frame, and frames with rows that do not follow each other. */
const upwards = (page, frames, by) =>
  page.evaluate(
    async ([frames, by]) => {
      const box = document.querySelector(".ms-log");
      const told = { top: 0, worst: 0, holes: 0 };
      for (let frame = 0; frame < frames; frame += 1) {
        const at = performance.now();
        box.scrollTop = Math.max(0, box.scrollTop - by);
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
        told.worst = Math.max(told.worst, performance.now() - at);
        const rows = [...box.querySelectorAll(".ms-log-text")];
        const shown = rows.map((row) => Number(row.textContent.split(" ")[1]));
        if (shown.some((number, index) => index > 0 && number !== shown[index - 1] + 1)) told.holes += 1;
        told.top = shown[0];
      }
      return told;
    },
    [frames, by],
  );
