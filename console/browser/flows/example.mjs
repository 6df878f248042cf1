import { fileURLToPath } from "node:url";
import { PATIENCE } from "../world.mjs";

/** The example of docs/console.md works as it stands. */
export async function flow(world) {
  await world.kill("SIGTERM");
  process.env.CONSOLE_DIR_BEFORE = process.env.CONSOLE_DIR ?? "";
  process.env.CONSOLE_DIR = fileURLToPath(new URL("../../../docs/console-example", import.meta.url));
  try {
    await world.up();
    await world.submit("--name", "greet", "--", "echo", "hello from the example");
    const page = await world.page({ token: null });
    // There is no icon, either.
    page.mayFail = /401|404/;
    await page.goto(world.base);
    await page.locator("#token").fill(world.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText(/greet/).click({ timeout: PATIENCE });
    await page.locator("#log").getByText("hello from the example").waitFor();
  } finally {
    const before = process.env.CONSOLE_DIR_BEFORE;
    if (before) process.env.CONSOLE_DIR = before;
    else delete process.env.CONSOLE_DIR;
  }
}
