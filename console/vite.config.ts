import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The server that the development page talks to: `MAINSPRING_URL`, else where `mainspring up` listens. */
const server = process.env.MAINSPRING_URL ?? "http://127.0.0.1:7468";
const proxied = ["/v1", "/openapi.json", "/docs", "/healthz", "/readyz"];

// Asset URLs are relative: the server writes `<base>` into the page, so the console works below any path prefix.
export default defineConfig({
  base: "./",
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    emptyOutDir: false,
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  server: {
    proxy: Object.fromEntries(proxied.map((path) => [path, { target: server, changeOrigin: false }])),
  },
});
