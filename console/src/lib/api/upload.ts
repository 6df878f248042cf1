// Uploads with progress, which `fetch` does not tell.
import { ApiError, NetworkError, type OperationId, urlOf } from "./client";
import { type Operations, PATHS, type Problem } from "./schema";

interface Upload {
  query: Record<string, unknown>;
  file: File;
  /** Bytes that were sent. */
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

export function upload<O extends OperationId>(
  operation: O,
  { query, file, onProgress, signal }: Upload,
): Promise<{ created: boolean; answer: Operations[O]["answer"] }> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open(PATHS[operation].method, urlOf(operation, {}, query));
    request.setRequestHeader("accept", "application/json");
    request.setRequestHeader("content-type", file.type || "application/octet-stream");
    request.upload.onprogress = (event) => onProgress(event.loaded);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) {
        done({ created: request.status === 201, answer: JSON.parse(request.responseText) });
      } else failed(refusal(request));
    };
    request.onerror = () => failed(new NetworkError("the upload broke off"));
    request.onabort = () => failed(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

function refusal(request: XMLHttpRequest): ApiError {
  const id = request.getResponseHeader("x-request-id");
  try {
    const problem = JSON.parse(request.responseText) as Problem;
    return new ApiError(
      request.status,
      problem.code,
      problem.detail,
      problem.request_id ?? id,
      problem.errors,
    );
  } catch {
    return new ApiError(request.status, `http_${request.status}`, request.statusText, id);
  }
}
