import { checkPages } from "../axe.mjs";
import { equal } from "../world.mjs";

/** The pages of capacity and administration, and what opens over every page, in both themes: nothing serious or critical. */
export async function flow(world) {
  const digest = await world.cli("artifact", "push", "--name", "model.bin", `${world.folder}/data/token`);
  await world.job("lonely", "name: lonely\nnamespace: acme\nscript: 'true'\nplacement: { pool: nowhere }\n");
  await world.run("lonely", "-n", "acme");
  const found = [];
  await checkPages(
    world,
    [
      "/artifacts",
      `/artifacts/${/sha256:[0-9a-f]{64}/.exec(digest)[0]}?ns=default`,
      "/artifacts?do=upload",
      "/admin/namespaces",
      "/admin/namespaces/acme",
      "/admin/members?do=new",
      "/admin/tokens?all=1",
      "/admin/tokens?do=new",
      "/admin/audit",
      "/admin/cluster",
      "/admin/doctor",
      "/me",
      ["/nodes", (page) => page.keyboard.press("Control+k")],
      ["/nodes?pool=default", (page) => page.keyboard.press("?")],
    ],
    found,
  );
  equal(found, [], "what is hard to use");
}
