import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// The default reporter cannot print a failure on Node 20, which Debian and many machines have.
const reporters = process.versions.node.startsWith("20.") ? ["tap-flat"] : ["default"];

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  test: { include: ["src/**/*.test.ts"], environment: "happy-dom", reporters },
});
