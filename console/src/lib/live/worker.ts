// The SharedWorker that holds the one stream. It closes when the last tab says goodbye.
import type { LiveCommand, LiveMessage } from "./message";
import { LiveStream } from "./stream";

const ports = new Set<MessagePort>();
let stream: LiveStream | undefined;

const tell = (message: LiveMessage) => {
  for (const port of ports) port.postMessage(message);
};

(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  port.onmessage = ({ data }: MessageEvent<LiveCommand>) => {
    if (data.kind === "hello") {
      ports.add(port);
      if (!stream) {
        stream = new LiveStream(data.url, tell);
        stream.open();
      } else port.postMessage(stream.current);
    } else if (data.kind === "retry") stream?.open();
    else {
      ports.delete(port);
      if (ports.size === 0) {
        stream?.close();
        stream = undefined;
      }
    }
  };
};
