import { equal } from "../world.mjs";

/** The language changes in place, is kept, and reaches what the server says. */
export async function flow(world) {
  await world.job("huge", "name: huge\nscript: echo x\nresources: { memory: 90000Gi }\n");
  const id = await world.run("huge");
  const page = await world.page();
  await page.goto(`${world.base}/runs/${id}`);
  await page.getByText("Waiting").first().waitFor();
  await page.getByRole("button", { name: "You and your preferences" }).click();
  await page.getByText("中文", { exact: true }).click();
  await page.getByText("排队中").first().waitFor();
  await page
    .getByText(/需要 .* 内存/)
    .first()
    .waitFor();
  equal(await page.evaluate(() => document.documentElement.lang), "zh-CN", "the language of the document");
  await page.reload();
  await page.getByText("排队中").first().waitFor();
  const left = await page.locator("main").textContent();
  const english = left.match(/\b(Waiting|Attempt|Cancel|Copy|Rerun|Events|Log)\b/g);
  equal(english, null, "English words on a Chinese page");
}
