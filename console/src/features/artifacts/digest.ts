/** The query key of all that is read of artifacts. */
export const artifactsKey = ["artifacts"];

/** `sha256:` and enough to tell it apart. */
export const shortDigest = (digest: string) => `${digest.slice(0, "sha256:".length + 12)}…`;
