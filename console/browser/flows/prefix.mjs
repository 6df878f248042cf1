import { createServer, request } from "node:http";
import { equal } from "../world.mjs";

/** Below a path of a proxy, which takes the prefix off and says so. */
export async function flow(world) {
  await world.submit("--", "true");
  const proxy = createServer((incoming, outgoing) => {
    if (!incoming.url.startsWith("/ops/")) {
      outgoing.writeHead(404).end();
      return;
    }
    const headers = { ...incoming.headers, "x-forwarded-prefix": "/ops" };
    const options = {
      port: world.port,
      host: "127.0.0.1",
      path: incoming.url.slice(4),
      method: incoming.method,
      headers,
    };
    const inner = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    inner.on("error", () => outgoing.destroy());
    incoming.pipe(inner);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  const base = `http://127.0.0.1:${proxy.address().port}`;
  try {
    const page = await world.page({ token: null });
    page.removeAllListeners("request");
    await page.goto(`${base}/ops/${new URL(world.link).hash}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("link", { name: "Runs" }).first().click();
    await page.waitForURL(`${base}/ops/runs`);
    await page.getByRole("link", { name: "true" }).click();
    await page.locator(".ms-head").getByText("Success").waitFor();
    await page.reload();
    await page.locator(".ms-head").getByText("Success").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    equal(page.wrongs, [], "what went wrong");
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}
