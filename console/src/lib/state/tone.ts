/** The colours of states; tokens.css has `--tone-<name>-{text,back,bar}` for each. */
export type Tone =
  | "ready"
  | "waiting"
  | "running"
  | "failed"
  | "success"
  | "final_failed"
  | "cancelled"
  | "skipped"
  | "unknown";
