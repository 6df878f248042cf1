import { readFileSync } from "node:fs";
import { equal, holds } from "../world.mjs";

/** A file is uploaded, found, downloaded, kept while a job names it, and deleted when none does. */
export async function flow(world) {
  const page = await world.page();
  page.mayFail = /409/;
  await page.goto(`${world.base}/artifacts`);
  await page.getByText("No artifacts yet.").waitFor();
  await page.locator(".ms-head").getByRole("button", { name: "Upload an artifact" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("File", { exact: true }).setInputFiles({
    name: "model.bin",
    mimeType: "application/octet-stream",
    buffer: Buffer.from("weights ".repeat(200_000)),
  });
  equal(await dialog.getByLabel("Name", { exact: true }).inputValue(), "model.bin", "the name of the file");
  await dialog.getByRole("button", { name: "Upload file" }).click();
  await dialog.getByRole("link", { name: "model.bin" }).click();
  await page.getByRole("heading", { name: "model.bin" }).waitFor();
  const digest = /sha256:[0-9a-f]{64}/.exec(page.url().replace("%3A", ":"))[0];

  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click(),
  ]);
  equal(readFileSync(await file.path(), "utf8").length, 1_600_000, "bytes that came back");

  await world.job(
    "user",
    `name: train\nscript: 'true'\nartifacts:\n  - { digest: '${digest}', path: model.bin }\n`,
  );
  await page.getByRole("button", { name: "Delete artifact" }).click();
  await dialog.getByText("Used by jobs").waitFor();
  await dialog.getByRole("link", { name: "train" }).waitFor();
  await dialog.getByRole("button", { name: "Delete artifact" }).click();
  await dialog.getByText("It is still used").waitFor();
  await dialog.getByRole("link", { name: "train" }).waitFor();
  await world.cli("delete", "train", "--yes");
  await dialog.getByRole("button", { name: "Delete artifact" }).click();
  await page.waitForURL(/\/artifacts(\?|$)/);
  await page.getByText("No artifacts yet.").waitFor();

  // A table as a file, with what a tenant wrote as no formula.
  await world.cli("artifact", "push", "--name", "=1+1", `${world.folder}/user.yaml`);
  await page.reload();
  await page.getByRole("link", { name: "=1+1", exact: true }).waitFor();
  await page.getByRole("button", { name: "Export" }).click();
  const [csv] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "CSV" }).click(),
  ]);
  const lines = readFileSync(await csv.path(), "utf8").split("\r\n");
  holds(lines[0].startsWith("name,digest,") && lines[1].startsWith("'=1+1,sha256:"), `the file: ${lines}`);
}
