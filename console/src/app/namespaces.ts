/** Namespaces as an indented list: parents that are not listed themselves are added. */
export function namespaceTree(paths: string[]): { path: string; name: string; depth: number }[] {
  const all = new Set<string>();
  for (const path of paths) {
    const parts = path.split("/");
    for (let count = 1; count <= parts.length; count += 1) all.add(parts.slice(0, count).join("/"));
  }
  const bySegments = (a: string, b: string) =>
    a.split("/").join("\u0000").localeCompare(b.split("/").join("\u0000"));
  return [...all].sort(bySegments).map((path) => {
    const parts = path.split("/");
    return { path, name: parts.at(-1) ?? path, depth: parts.length - 1 };
  });
}
