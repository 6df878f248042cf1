import { equal } from "../world.mjs";

/** Puts the caret at the end of the text and types. */
async function type(page, text) {
  await page.getByLabel("The job as YAML").click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type(text);
}

/** A newcomer writes a job, tries it, creates it and runs it; a second person changes it at the same time. */
export async function flow(world) {
  const page = await world.page();
  page.mayFail = /422|412/;
  await page.goto(`${world.base}/jobs`);
  await page.getByRole("link", { name: "New job" }).click();
  await page.getByText("None. The server accepts this text.").waitFor();
  await type(page, "\ntimeout: 1 hour");
  await page.getByText("Line 7:").waitFor();
  await page.getByText(/is not a unit of time/).waitFor();
  await page.reload();
  await page.getByText("draft kept in this browser").waitFor();
  await page.getByText(/is not a unit of time/).waitFor();
  await type(page, "");
  for (let count = 0; count < " hour".length; count += 1) await page.keyboard.press("Backspace");
  await page.keyboard.type("h");
  await page.getByText("None. The server accepts this text.").waitFor();

  await page.getByRole("button", { name: "Test run" }).click();
  await page
    .locator(".ms-editor-side")
    .getByText(/hello from/)
    .waitFor();
  await page.locator(".ms-editor-side").getByText("Success").waitFor();
  equal(JSON.parse(await world.cli("jobs", "-o", "json")).items?.length ?? 0, 0, "jobs after a test run");

  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Create job" }).click();
  await page.getByRole("heading", { name: "hello" }).waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run now" }).click();
  await page.waitForURL(/\/runs\/run_/);
  await page
    .getByRole("log", { name: "Log", exact: true })
    .getByText(/hello from/)
    .waitFor();

  // Somebody else saves while the text is edited.
  await page.goto(`${world.base}/jobs/hello/edit?ns=default`);
  await page.getByText("None. The server accepts this text.").waitFor();
  await page.getByLabel("The job as YAML").click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.type("# kept with the version\ndescription: mine\n");
  await page.getByText("draft kept in this browser").waitFor();
  await world.job("hello", "name: hello\nscript: echo theirs\n");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Save new version" }).click();
  await page.getByText("admin saved version 2 while you were editing. Your text is kept.").waitFor();
  await page.getByRole("button", { name: "Compare with theirs" }).click();
  await page.getByText(/echo theirs/).waitFor();
  await page.getByLabel("The job as YAML").getByText("mine").waitFor();
  await page.getByRole("button", { name: "Save over version 2" }).click();
  await page.getByLabel("Note for others").fill("as ann asked");
  await page.getByRole("button", { name: "Save new version" }).click();
  await page.waitForURL(/\/jobs\/hello\?/);
  await page.locator("p").getByText("mine", { exact: true }).waitFor();

  // The text is opened as it was saved, and its version tells why.
  await page.goto(`${world.base}/jobs/hello/edit?ns=default`);
  await page.getByLabel("The job as YAML").getByText("# kept with the version").waitFor();
  await page.goto(`${world.base}/jobs/hello?ns=default&tab=versions`);
  await page.getByText("as ann asked").waitFor();
  await page.getByText("console", { exact: true }).first().waitFor();
}
