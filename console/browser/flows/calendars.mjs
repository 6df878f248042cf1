import { equal } from "../world.mjs";

/** A calendar is made, drawn, corrected and deleted; two people who save at once both keep what they typed. */
export async function flow(world) {
  const page = await world.page();
  page.mayFail = /409|412|422/;
  await page.goto(`${world.base}/calendars?ns=default`);
  await page.getByText("No calendars yet.").waitFor();
  await page.getByRole("link", { name: "New calendar" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("holidays");
  const off = page.getByLabel("Days off");
  const save = page.getByRole("button", { name: "Save calendar" });
  const year = new Date().getFullYear();

  // What cannot be read is told at its field; the server's own problem too.
  await off.fill(`${year}-12-25\nChristmas`);
  await page.getByText("Line 2: Christmas is not a day").waitFor();
  equal(await save.isDisabled(), true, "saving what cannot be read");
  await off.fill(`${year}-12-25`);
  await page.getByLabel("Worked after all", { exact: true }).fill(`${year}-12-25`);
  await save.click();
  await page.getByText(/Line 1: .*said to be off and to be worked/).waitFor();
  await page.getByLabel("Worked after all", { exact: true }).fill("");

  // A click on a day changes it, the text follows.
  await page.getByRole("button", { name: `${year}-12-24`, exact: false }).click();
  equal(await off.inputValue(), `${year}-12-25\n${year}-12-24`, "days off after a click");
  await save.click();
  await page.waitForURL(/\/calendars\/holidays/);
  await page.getByRole("heading", { name: "holidays" }).waitFor();
  await world.job(
    "etl",
    "name: etl\nscript: echo x\ntriggers:\n  - { name: daily, cron: '0 3 * * *', calendar: holidays }\n",
  );
  await page.reload();
  await page
    .getByRole("region", { name: "Triggers that heed it" })
    .getByRole("link", { name: "etl / daily" })
    .waitFor();

  // Somebody else saves meanwhile.
  await page.getByLabel("Description").fill("mine");
  await world.cli("calendar", "set", "holidays", "--weekend", "sun", "--description", "theirs");
  await save.click();
  await page.getByText(/saved this calendar while you were editing/).waitFor();
  await page.getByRole("button", { name: "Compare with mine" }).click();
  await page.getByText("− theirs").waitFor();
  equal(await page.getByLabel("Description").inputValue(), "mine", "what was typed");
  await page.getByRole("button", { name: "Save mine over it" }).click();
  await page.getByText(/saved this calendar while/).waitFor({ state: "hidden" });
  const stored = JSON.parse(await world.cli("calendar", "get", "holidays", "-o", "json"));
  equal([stored.spec.description, stored.spec.weekend], ["mine", ["sat", "sun"]], "what is stored");

  // One that is heeded stays; without its trigger it goes.
  const remove = page.getByRole("button", { name: "Delete calendar" });
  await remove.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Delete calendar" }).click();
  await dialog.getByText(/1 job heeds it: etl/).waitFor();
  await dialog.getByRole("button", { name: "Keep calendar" }).click();
  await world.job("etl", "name: etl\nscript: echo x\n");
  await remove.click();
  await dialog.getByRole("button", { name: "Delete calendar" }).click();
  await page.getByText("No calendars yet.").waitFor();
}
