// The entries of the palette: what can be done here, pages, jobs, nodes, namespaces, preferences. Only what the role may.
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { call } from "@/lib/api/client";
import { copyText } from "@/lib/clipboard";
import { PAGES } from "../navigation";
import { pageCommands } from "../pageCommands";
import { CHOICES, setPreferences, usePreferences } from "../preferences";
import { signOut, useMay } from "../session";
import { useNamespace } from "../useNamespace";
import { useNamespaces } from "../useNamespaces";
import { pastedId } from "./ids";
import { find, type Matchable } from "./match";

export interface PaletteItem extends Matchable {
  id: string;
  group: "found" | "actions" | "pages" | "jobs" | "nodes" | "namespaces" | "preferences" | "other";
  /** Beside the label: where it is, or its keys. */
  note?: string | undefined;
  keys?: string | undefined;
  run: () => void;
}

const LIST_MAX = 1000;
const JOBS_MAX = 50;
const TYPING_MS = 120;
const GROUP_MAX = 8;
const FRESH_MS = 30_000;

export function usePaletteItems(query: string, onlyActions: boolean, onKeys: () => void) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayDo = useMay();
  const ns = useNamespace();
  const preferences = usePreferences();
  // The server looks for jobs: there may be many.
  const [q] = useDebouncedValue(query.trim(), TYPING_MS);
  const jobs = useQuery({
    queryKey: ["palette", "jobs", ns ?? "", q],
    queryFn: ({ signal }) => call("job_list", { query: { namespace: ns, q, limit: JOBS_MAX }, signal }),
    enabled: !onlyActions && q !== "" && pastedId(q) === undefined && mayDo("job.list"),
    placeholderData: keepPreviousData,
    staleTime: FRESH_MS,
  });
  const nodes = useQuery({
    queryKey: ["palette", "nodes"],
    queryFn: ({ signal }) => call("node_list", { query: { limit: LIST_MAX }, signal }),
    enabled: !onlyActions && mayDo("node.list"),
    staleTime: FRESH_MS,
  });
  const namespaces = useNamespaces(!onlyActions && mayDo("namespace.list"));

  const actions: PaletteItem[] = [
    ...pageCommands().map((command, index) => ({
      id: `action ${index}`,
      group: "actions" as const,
      ...command,
    })),
    {
      id: "link",
      group: "actions",
      label: t("palette.copy_link"),
      alias: "copy link url",
      keys: "y",
      run: () => void copyText(location.href),
    },
  ];
  if (onlyActions) return { items: find([actions], query, LIST_MAX), isLoading: false };

  const pages: PaletteItem[] = PAGES.filter((page) => mayDo(page.needs)).map((page) => ({
    id: page.to,
    group: "pages",
    label: t(`nav.${page.name}`),
    alias: page.name,
    keys: page.key && `g ${page.key}`,
    run: () => void navigate({ to: page.to, search: { ns } }),
  }));
  const jobItems: PaletteItem[] = (jobs.data?.items ?? []).map((job) => ({
    id: job.id,
    group: "jobs",
    label: job.name,
    alias: `${job.namespace} ${job.id}`,
    note: job.namespace,
    run: () => void navigate({ to: "/jobs/$job", params: { job: job.name }, search: { ns: job.namespace } }),
  }));
  const nodeItems: PaletteItem[] = (nodes.data?.items ?? []).map((node) => ({
    id: node.id,
    group: "nodes",
    label: node.name,
    alias: `${node.pool} ${node.id}`,
    note: node.pool,
    run: () => void navigate({ to: "/nodes", search: { ns, q: node.name } }),
  }));
  const goTo = (to: string | undefined) =>
    void navigate({ to: ".", search: (before) => ({ ...before, ns: to }) });
  const namespaceItems: PaletteItem[] = [
    ...(ns
      ? [
          {
            id: "ns",
            group: "namespaces" as const,
            label: t("nav.all_namespaces"),
            run: () => goTo(undefined),
          },
        ]
      : []),
    ...(namespaces.data?.items ?? [])
      .filter((each) => each.path !== ns)
      .map((each) => ({
        id: `ns ${each.path}`,
        group: "namespaces" as const,
        label: each.path,
        run: () => goTo(each.path),
      })),
  ];
  const choice = (key: keyof typeof CHOICES): PaletteItem[] =>
    CHOICES[key]
      .filter((value) => value !== preferences[key])
      .map((value) => ({
        id: `${key} ${value}`,
        group: "preferences",
        label: `${t(`person.${key}`)}: ${t(`person.${value}`)}`,
        alias: `${key} ${value}`,
        run: () => setPreferences({ [key]: value }),
      }));
  const others: PaletteItem[] = [
    {
      id: "keys",
      group: "other",
      label: t("keys.title"),
      alias: "keys help shortcuts",
      keys: "?",
      run: onKeys,
    },
    {
      id: "api",
      group: "other",
      label: t("nav.api"),
      alias: "api docs",
      run: () => location.assign(new URL("docs", document.baseURI).href),
    },
    {
      id: "me",
      group: "other",
      label: t("person.page"),
      alias: "me account sessions roles",
      run: () => void navigate({ to: "/me" }),
    },
    {
      id: "out",
      group: "other",
      label: t("person.sign_out"),
      alias: "sign out",
      run: () => void signOut(),
    },
  ];

  const found: PaletteItem[] = [];
  const pasted = pastedId(query);
  if (pasted?.kind === "run") {
    const { id } = pasted;
    found.push({
      id: "pasted",
      group: "found",
      label: t("palette.open_run", { id: `…${id.slice(-6)}` }),
      note: id,
      run: () => void navigate({ to: "/runs/$run", params: { run: id }, search: { ns } }),
    });
  }
  if (pasted?.kind === "artifact") {
    const { digest } = pasted;
    found.push({
      id: "pasted",
      group: "found",
      label: t("palette.open_artifact", { digest: `${digest.slice(0, 19)}…` }),
      note: ns ?? "default",
      run: () => void navigate({ to: "/artifacts/$digest", params: { digest }, search: { ns } }),
    });
  }
  const word = query.trim();
  const isPlain = /^[\w./-]+$/.test(word) && !pasted;
  if (isPlain && mayDo("run.list")) {
    others.unshift({
      id: "search",
      group: "other",
      label: t("palette.runs_of", { q: word }),
      alias: word,
      run: () => void navigate({ to: "/runs", search: { ns, q: `job:${word}` } }),
    });
  }
  // Without a query: what is near, not all there is.
  const isEmpty = word === "";
  const choices = (Object.keys(CHOICES) as (keyof typeof CHOICES)[]).flatMap(choice);
  const lists = isEmpty
    ? [actions, pages]
    : [actions, pages, jobItems, nodeItems, namespaceItems, choices, others];
  return {
    items: [...found, ...find(lists, query, GROUP_MAX)],
    isLoading: !isEmpty && (jobs.isLoading || nodes.isLoading || namespaces.isLoading),
  };
}
