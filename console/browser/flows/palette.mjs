import { equal, holds } from "../world.mjs";

/** Everything by name: pages, jobs, a pasted id, actions on the page, preferences; in Chinese by initials. */
export async function flow(world) {
  await world.job("orders", "name: etl-orders\nscript: sleep 600\n");
  const id = await world.run("etl-orders");
  const page = await world.page();
  await page.goto(`${world.base}/`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const palette = page.getByRole("dialog", { name: "Command palette" });
  const choose = async (text, option) => {
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill(text);
    await palette.getByRole("option", { name: option, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
  };
  await choose("orders", /^etl-orders/);
  await page.waitForURL(/\/jobs\/etl-orders/);
  await choose(`mainspring logs ${id}`, /^Open run/);
  await page.waitForURL(`**/runs/${id}*`);
  await page.locator(".ms-head").getByText("Running").waitFor();

  // `.` lists what can be done with the run.
  await page.keyboard.press(".");
  const actions = page.getByRole("dialog", { name: "Actions on this page" });
  await actions.getByRole("option", { name: "Cancel run" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel run" }).click();
  await page.locator(".ms-head").getByText("Cancelled").waitFor();

  await choose("dark", "Theme: Dark");
  await page.waitForFunction(() => document.documentElement.dataset.mantineColorScheme === "dark");
  await choose("中文", "Language: 中文");
  await page.locator(".ms-head").getByText("已取消").waitFor();
  const chinese = page.getByRole("dialog", { name: "命令面板" });
  await page.keyboard.press("Control+k");
  await chinese.getByRole("combobox").fill("zy");
  await chinese.getByRole("option", { name: "作业", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/jobs(\?|$)/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "键盘快捷键" }).waitFor();

  // A viewer is offered what a viewer may do.
  await world.cli("member", "set", "vera", "viewer", "-n", "default");
  const vera = JSON.parse(await world.cli("token", "create", "vera", "--subject", "vera", "-o", "json"));
  const other = await world.page({ token: vera.secret });
  await other.goto(`${world.base}/runs/${id}`);
  await other.locator(".ms-head").getByText("Cancelled").waitFor();
  await other.keyboard.press("Control+k");
  const theirs = other.getByRole("dialog", { name: "Command palette" });
  await theirs.getByRole("option", { name: "Runs", exact: false }).first().waitFor();
  const offered = await theirs.getByRole("option").allInnerTexts();
  equal(
    offered.filter((text) => /Rerun|Cancel/.test(text)),
    [],
    "what a viewer may not do",
  );
  holds(
    offered.some((text) => text.startsWith("Jobs")),
    "pages are offered",
  );
}
