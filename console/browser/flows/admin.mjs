import { equal, holds } from "../world.mjs";

/** Namespaces, roles and tokens are made and taken away; a change by somebody else is told; the audit has it all. */
export async function flow(world) {
  const page = await world.page();
  page.mayFail = /409|412/;
  const dialog = page.getByRole("dialog");
  await page.goto(`${world.base}/admin/namespaces`);
  await page.locator(".ms-head").getByRole("button", { name: "New namespace" }).click();
  await dialog.getByLabel("Path").fill("acme/data");
  await dialog.getByLabel("What it is for").fill("orders");
  await dialog.getByRole("button", { name: "Create namespace" }).click();
  await page.getByRole("link", { name: "acme/data", exact: true }).click();
  await page.getByRole("heading", { name: "acme/data" }).waitFor();

  // A role, changed by somebody else while the dialog is open: what is there now is told, then it is overwritten.
  await page.getByRole("link", { name: "Members", exact: true }).last().click();
  await page.getByText("Nobody has a role here.").waitFor();
  await page.locator(".ms-head").getByRole("button", { name: "Give a role" }).click();
  await dialog.getByLabel("Who").fill("ann");
  await dialog.getByText("viewer", { exact: true }).click();
  await dialog.getByRole("button", { name: "Give role viewer" }).click();
  await page.getByRole("button", { name: "Actions for ann" }).click();
  await page.getByRole("menuitem", { name: "Change role" }).click();
  await world.cli("member", "set", "ann", "editor", "-n", "acme/data");
  await dialog.getByText("operator", { exact: true }).click();
  await dialog.getByRole("button", { name: "Save role" }).click();
  await dialog.getByText(/Now it is editor/).waitFor();
  await dialog.getByRole("button", { name: "Save role" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("table", { name: "Members" }).getByText("operator").waitFor();

  // A namespace that somebody has a role in stays.
  await page.goto(`${world.base}/admin/namespaces/acme%2Fdata`);
  await page.getByRole("button", { name: "Delete namespace" }).click();
  await dialog.getByLabel(/Type acme/).fill("acme/data");
  await dialog.getByRole("button", { name: "Delete namespace" }).click();
  await dialog.getByText(/still has a member/).waitFor();

  // A token is shown once, works, and is revoked.
  await page.goto(`${world.base}/admin/tokens`);
  await page.locator(".ms-head").getByRole("button", { name: "New token" }).click();
  await dialog.getByLabel("Name").fill("ci");
  await dialog.getByRole("button", { name: "Add a limit" }).click();
  await dialog.getByRole("button", { name: "Create token" }).click();
  await dialog.getByText("it is not shown again").waitFor();
  const secret = (await dialog.locator("pre").textContent()).trim();
  const asks = () => fetch(`${world.base}/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
  const me = await (await asks()).json();
  equal(
    me.grants.map((grant) => grant.role),
    ["viewer"],
    "what the token may",
  );
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("button", { name: "Revoke ci" }).click();
  await dialog.getByRole("button", { name: "Revoke token" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Revoke ci" }).waitFor({ state: "detached" });
  equal((await asks()).status, 401, "the answer to a revoked token");

  await page.goto(`${world.base}/admin/audit?operation=member.put`);
  const audit = page.getByRole("table", { name: "Audit" });
  await audit.getByText("ann").first().waitFor();
  holds((await audit.getByText("token.create").count()) === 0, "only the operation that was asked for");
  await page.getByText("The doctor found no gap").waitFor();
}
