import { checkPages } from "../axe.mjs";
import { equal } from "../world.mjs";

/** The pages of capacity and administration, and what opens over every page, in both themes: nothing serious or critical. */
export async function flow(world) {
  const digest = await world.cli("artifact", "push", "--name", "model.bin", `${world.folder}/data/token`);
  const found = [];
  await checkPages(
    world,
    [
      "/artifacts",
      `/artifacts/${/sha256:[0-9a-f]{64}/.exec(digest)[0]}?ns=default`,
      "/artifacts?do=upload",
      ["/nodes", (page) => page.keyboard.press("Control+k")],
      ["/nodes?pool=default", (page) => page.keyboard.press("?")],
    ],
    found,
  );
  equal(found, [], "what is hard to use");
}
