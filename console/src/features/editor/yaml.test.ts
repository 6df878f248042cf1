import { expect, it } from "vitest";
import { lineOf, nameIn, toYaml } from "./yaml";

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

it("finds the name of a draft and the line of a problem", () => {
  const text = "# mine\nname: 'etl' # x\nretry:\n  max: 3\n  backoff:\n    base: 1 hour\n";
  expect(nameIn(text)).toBe("etl");
  expect(nameIn("script: x")).toBeUndefined();
  expect(lineOf(text, "retry.backoff.base", "is no duration")).toBe(6);
  expect(lineOf(text, "", "not valid YAML: unclosed bracket '[' at line 2, column 9")).toBe(2);
  expect(lineOf(text, "nothing", "x")).toBeUndefined();
});
