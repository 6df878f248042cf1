import { expect, it } from "vitest";
import { nameIn, toYaml } from "./yaml";

it("writes a specification as people would", () => {
  const spec = {
    name: "etl",
    script: { text: "echo a\n\necho b\n", interpreter: ["python3"] },
    triggers: [{ name: "night", cron: "0 2 * * *" }],
    labels: {},
    retry: { max: 3, jitter: 0.5 },
    note: "yes",
    digest: "sha256:1",
  };
  expect(toYaml(spec)).toBe(`name: etl
script:
  text: |
    echo a

    echo b
  interpreter:
    - python3
triggers:
  - name: night
    cron: "0 2 * * *"
labels: {}
retry:
  max: 3
  jitter: 0.5
note: "yes"
digest: "sha256:1"
`);
});

it("finds the name of a draft", () => {
  const text = "# mine\nname: 'etl' # x\nretry: {}\n";
  expect(nameIn(text)).toBe("etl");
  expect(nameIn("script: x")).toBeUndefined();
});
