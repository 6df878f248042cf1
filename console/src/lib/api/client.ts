// Calls of the public API. One function for all operations; types come from schema.ts. Nothing here retries or caches:
// that is the query cache's task.
import { type Operations, PATHS, type Problem } from "./schema";

export type OperationId = keyof Operations;

type Optional<K extends string, T> = Record<never, never> extends T ? { [P in K]?: T } : { [P in K]: T };
export type Request<O extends OperationId> = Optional<"path", Operations[O]["path"]> &
  Optional<"query", Operations[O]["query"]> &
  (undefined extends Operations[O]["body"]
    ? { body?: Operations[O]["body"] }
    : { body: Operations[O]["body"] } | { yaml: string; body?: undefined }) & {
    /** The body as YAML instead of JSON. */ yaml?: string;
    ifMatch?: number;
    /** Only if there is nothing of the name yet. */
    ifNew?: boolean;
    idempotencyKey?: string;
    signal?: AbortSignal;
  };

/** The server said no. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly requestId: string | null,
    readonly fields: NonNullable<Problem["errors"]> = [],
    /** What the code means, in both languages. */
    readonly title = { en: "", zh: "" },
  ) {
    super(detail);
    this.name = "ApiError";
  }
}

/** No answer came: the server is away, or the network is. */
export class NetworkError extends Error {
  override name = "NetworkError";
}

/** The URL of an operation, below whatever prefix the console is served. */
export function urlOf(
  operation: OperationId,
  path: Record<string, unknown> = {},
  query: Record<string, unknown> = {},
  base = document.baseURI,
): string {
  const filled = PATHS[operation].path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name])),
  );
  const url = new URL(filled.slice(1), base);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

export async function call<O extends OperationId>(
  operation: O,
  request: Request<O>,
): Promise<Operations[O]["answer"]> {
  const { path, query, body, yaml, ifMatch, ifNew, idempotencyKey, signal } = request as Request<O> & {
    path?: Record<string, unknown>;
    query?: Record<string, unknown>;
  };
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (yaml !== undefined) headers["content-type"] = "application/yaml";
  if (ifNew) headers["if-none-match"] = "*";
  if (ifMatch !== undefined) headers["if-match"] = `"${ifMatch}"`;
  if (idempotencyKey) headers["idempotency-key"] = idempotencyKey;
  return ask<Operations[O]["answer"]>(urlOf(operation, path, query), {
    method: PATHS[operation].method,
    headers,
    body: yaml ?? (body === undefined ? null : JSON.stringify(body)),
    signal: signal ?? null,
  });
}

/** Sends a request that the server itself told of, such as an action of Why. */
export function send(method: string, path: string, body?: unknown): Promise<unknown> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const url = new URL(path.replace(/^\/+/, ""), document.baseURI).href;
  return ask(url, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
}

async function ask<T>(url: string, request: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(url, { credentials: "same-origin", ...request });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new NetworkError(String(error));
  }
  if (!answer.ok) throw await refusal(answer);
  if (answer.status === 204) return undefined as T;
  return (await answer.json()) as T;
}

async function refusal(answer: Response): Promise<ApiError> {
  const requestId = answer.headers.get("x-request-id");
  try {
    const problem = (await answer.json()) as Problem;
    return new ApiError(
      answer.status,
      problem.code,
      problem.detail,
      problem.request_id ?? requestId,
      problem.errors,
      { en: problem.title, zh: problem.title_zh ?? "" },
    );
  } catch {
    // A proxy in between answers without a problem document.
    return new ApiError(answer.status, `http_${answer.status}`, answer.statusText, requestId);
  }
}

/** A random key for `Idempotency-Key`; `crypto.randomUUID` is absent on plain http. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** An id that the caller chooses, such as `bf_…`, so that a request which is sent again is the same one: time first, then chance. */
export function newId(prefix: string): string {
  let time = Date.now();
  let text = "";
  for (let place = 0; place < 10; place += 1) {
    text = DIGITS[time % 32] + text;
    time = Math.floor(time / 32);
  }
  const chance = Array.from(crypto.getRandomValues(new Uint8Array(15)), (byte) => DIGITS[byte % 32]);
  return `${prefix}_${text}e${chance.join("")}`;
}
