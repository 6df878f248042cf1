// Ids that are pasted into the palette, out of whatever stands around them: a line of a log, an address, a command.

export type PastedId = { kind: "run"; id: string } | { kind: "artifact"; digest: string };

export function pastedId(text: string): PastedId | undefined {
  const run = /run_[0-9a-z]{26}/.exec(text)?.[0];
  if (run) return { kind: "run", id: run };
  const digest = /sha256:[0-9a-f]{64}/i.exec(text)?.[0];
  return digest ? { kind: "artifact", digest: digest.toLowerCase() } : undefined;
}
