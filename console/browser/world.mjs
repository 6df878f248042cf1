// The world of a flow: the real binary with a store of its own, its command line, and pages of a real browser that notice
// whatever must not happen.
import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import { chromium } from "playwright-core";

const run = promisify(execFile);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BINARY = process.env.MAINSPRING_BINARY ?? here("../../target/debug/mainspring");
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** How long anything may take on a busy machine. */
export const PATIENCE = 180_000;

const freePort = () =>
  new Promise((done, failed) => {
    const server = createServer();
    server.on("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

export class World {
  /** Everything on one machine; as a demonstration with `start("demo")`. */
  static async start(command = "up") {
    const world = new World();
    world.command = command;
    world.folder = mkdtempSync(join(tmpdir(), "mainspring-console-"));
    // Tasks of a root agent have a uid of their own; they look for the files by which flows let them go on.
    chmodSync(world.folder, 0o711);
    world.port = await freePort();
    world.base = `http://127.0.0.1:${world.port}`;
    try {
      await world.up();
      world.browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: FLAGS,
      });
    } catch (error) {
      await world.stop();
      throw error;
    }
    return world;
  }

  /** Starts the server, with a sign-in link. */
  async up() {
    const folder = process.env.CONSOLE_DIR ? ["--console-dir", process.env.CONSOLE_DIR] : [];
    const args = [
      this.command,
      "--data",
      join(this.folder, "data"),
      "--listen",
      `127.0.0.1:${this.port}`,
      ...folder,
    ];
    const child = spawn(BINARY, args, { env: this.environment(), stdio: ["ignore", "pipe", "pipe"] });
    this.server = child;
    this.words = "";
    const take = (chunk) => {
      this.words += chunk;
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    // A demonstration writes its history first.
    const patience = this.command === "demo" ? 20 * PATIENCE : PATIENCE;
    await this.until(() => /#login=\S+/.test(this.words), "the server is up", patience);
    this.link = /http\S+#login=\S+/.exec(this.words)[0];
    const sidecar = /started a sidecar.*pid=(\d+)/.exec(stripVTControlCharacters(this.words));
    if (sidecar) this.sidecar = Number(sidecar[1]);
  }

  async kill(signal = "SIGKILL") {
    if (this.server.exitCode !== null || this.server.signalCode !== null) return;
    const ended = new Promise((done) => this.server.once("exit", done));
    this.server.kill(signal);
    await ended;
  }

  async stop() {
    await this.browser?.close();
    await this.kill("SIGTERM");
    try {
      if (this.sidecar) process.kill(this.sidecar, "SIGTERM");
    } catch {
      // It ended with its last task.
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  environment() {
    const { PATH } = process.env;
    return {
      PATH,
      HOME: join(this.folder, "home"),
      MAINSPRING_URL: this.base,
      MAINSPRING_TOKEN_FILE: join(this.folder, "data", "token"),
    };
  }

  get token() {
    return readFileSync(join(this.folder, "data", "token"), "utf8").trim();
  }

  /** The command line; what it prints. */
  async cli(...args) {
    const { stdout } = await run(BINARY, args, { env: this.environment() });
    return stdout.trim();
  }

  /** Applies a job file. */
  async job(name, text) {
    const path = join(this.folder, `${name}.yaml`);
    writeFileSync(path, text);
    await this.cli("apply", "--yes", path);
  }

  /** The id of a new run. */
  async run(...args) {
    const text = await this.cli("run", ...args, "-o", "name");
    return /run_[0-9a-z]+/.exec(text)[0];
  }

  async submit(...args) {
    const text = await this.cli(
      "submit",
      ...args.slice(0, args.indexOf("--")),
      "-o",
      "name",
      ...args.slice(args.indexOf("--")),
    );
    return /run_[0-9a-z]+/.exec(text)[0];
  }

  async until(check, what, patience = PATIENCE) {
    const end = Date.now() + patience;
    while (Date.now() < end) {
      if (await check()) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`waited too long: ${what}\n${this.words.slice(-2000)}`);
  }

  /** A fresh browser profile. Errors, dialogs, CSP violations and requests to elsewhere are kept in `page.wrongs`. */
  async page({
    token = this.token,
    width = 1440,
    height = 900,
    language = "en",
    theme = "light",
    ...options
  } = {}) {
    const context = await this.browser.newContext({
      viewport: { width, height },
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(PATIENCE);
    await context.addInitScript(
      ([language, theme]) => {
        if (!localStorage.getItem("mainspring.preferences"))
          localStorage.setItem("mainspring.preferences", JSON.stringify({ language, theme }));
        addEventListener("securitypolicyviolation", (event) => {
          console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
        });
      },
      [language, theme],
    );
    const page = await context.newPage();
    this.watch(page);
    if (token) {
      const answer = await context.request.post(`${this.base}/v1/sessions`, {
        data: { token },
        headers: { origin: this.base },
      });
      if (answer.status() !== 201) throw new Error(`no session: ${answer.status()}`);
    }
    return page;
  }

  watch(page) {
    page.wrongs = [];
    page.on("pageerror", (error) => page.wrongs.push(`error: ${error.message}`));
    page.on("dialog", async (dialog) => {
      page.wrongs.push(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on("console", (message) => {
      if (message.type() === "error" && !page.mayFail?.test(message.text()))
        page.wrongs.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.base) && !/^(data|blob):/.test(url)) page.wrongs.push(`elsewhere: ${url}`);
    });
  }
}

export function equal(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
}

export function holds(condition, what) {
  if (!condition) throw new Error(what);
}

/** How much wider than the window the page is. */
export const overflow = (page) =>
  page.evaluate(() =>
    Math.max(document.documentElement.scrollWidth - innerWidth, document.body.scrollWidth - innerWidth),
  );

/** Until nothing on the page is still loading. */
export async function settled(page) {
  await page.waitForFunction(
    () => !document.querySelector('[aria-busy="true"]') && document.querySelector("h1"),
  );
  // Two frames: what was read is painted.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
