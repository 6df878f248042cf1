// All URLs. Search parameters are typed and optional; defaults are left out.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { OCCURRENCE_NAMES } from "@/lib/state/occurrence";
import { NotFound } from "./NotFound";
import { Shell } from "./Shell";
import { parseSearch, stringifySearch } from "./search";

export interface Everywhere {
  /** The namespace; without it, all that may be seen. */
  ns?: string;
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const number = (value: unknown) =>
  Number.isInteger(Number(value)) && value !== "" ? Number(value) : undefined;
const choice = <T extends string>(value: unknown, among: readonly T[]) =>
  among.includes(value as T) ? (value as T) : undefined;

/** Search parameters are all optional. */
const optional = <T extends object>(search: T): Partial<T> => search;

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: (search: Record<string, unknown>): Everywhere => ({ ns: text(search.ns) }),
});

export const overviewRoute = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      window: choice(search.window, ["1h", "6h", "7d"] as const),
    }),
  component: lazyRouteComponent(() => import("@/features/overview/OverviewPage"), "OverviewPage"),
});

export const runsRoute = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ q: text(search.q), cols: text(search.cols), operation: text(search.operation) }),
  component: lazyRouteComponent(() => import("@/features/runs/RunsPage"), "RunsPage"),
});

export const queueRoute = createRoute({
  getParentRoute: () => root,
  path: "/queue",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ by: choice(search.by, ["pool", "job"] as const), reason: text(search.reason) }),
  component: lazyRouteComponent(() => import("@/features/queue/QueuePage"), "QueuePage"),
});

export const RUN_TABS = ["log", "params", "attempts", "events"] as const;

export const runRoute = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run",
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      tab: choice(search.tab, RUN_TABS),
      attempt: number(search.attempt),
      line: text(search.line),
      find: text(search.find),
      re: search.re ? true : undefined,
      case: search.case ? true : undefined,
      stream: choice(search.stream, ["stdout", "stderr", "system"] as const),
    }),
  component: lazyRouteComponent(() => import("@/features/run/RunPage"), "RunPage"),
});

export const jobsRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ q: text(search.q), label: text(search.label), view: choice(search.view, ["flat"] as const) }),
  component: lazyRouteComponent(() => import("@/features/jobs/JobsPage"), "JobsPage"),
});

export const newJobRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/new",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ template: text(search.template), copy: text(search.copy) }),
  component: lazyRouteComponent(() => import("@/features/editor/EditorPage"), "NewJobPage"),
});

export const editJobRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job/edit",
  validateSearch: (search: Record<string, unknown>) => optional({ version: number(search.version) }),
  component: lazyRouteComponent(() => import("@/features/editor/EditorPage"), "EditJobPage"),
});

export const JOB_TABS = ["runs", "cadence", "triggers", "versions", "stats", "dependents", "spec"] as const;

export const jobRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job",
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      tab: choice(search.tab, JOB_TABS),
      from: number(search.from),
      to: number(search.to),
      do: choice(search.do, ["run", "pause"] as const),
      window: choice(search.window, ["24h", "30d"] as const),
    }),
  component: lazyRouteComponent(() => import("@/features/jobs/JobPage"), "JobPage"),
});

export const TRIGGER_DIALOGS = ["pause", "backfill", "cursor", "fire"] as const;

export const triggerRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job/triggers/$trigger",
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      from: text(search.from),
      until: text(search.until),
      outcome: choice(search.outcome, OCCURRENCE_NAMES),
      at: text(search.at),
      do: choice(search.do, TRIGGER_DIALOGS),
    }),
  component: lazyRouteComponent(() => import("@/features/triggers/TriggerPage"), "TriggerPage"),
});

export const BACKFILL_STATES = ["running", "finishing", "done", "stopped"] as const;

export const backfillsRoute = createRoute({
  getParentRoute: () => root,
  path: "/backfills",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ state: choice(search.state, BACKFILL_STATES) }),
  component: lazyRouteComponent(() => import("@/features/backfills/BackfillsPage"), "BackfillsPage"),
});

export const heatRoute = createRoute({
  getParentRoute: () => root,
  path: "/calendar",
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      from: text(search.from),
      days: number(search.days),
      pool: text(search.pool),
      at: text(search.at),
    }),
  component: lazyRouteComponent(() => import("@/features/calendar/CalendarPage"), "CalendarPage"),
});

export const calendarsRoute = createRoute({
  getParentRoute: () => root,
  path: "/calendars",
  validateSearch: (search: Record<string, unknown>) => optional({ do: choice(search.do, ["new"] as const) }),
  component: lazyRouteComponent(() => import("@/features/calendars/CalendarsPage"), "CalendarsPage"),
});

export const calendarRoute = createRoute({
  getParentRoute: () => root,
  path: "/calendars/$calendar",
  component: lazyRouteComponent(() => import("@/features/calendars/CalendarPage"), "CalendarPage"),
});

export const nodesRoute = createRoute({
  getParentRoute: () => root,
  path: "/nodes",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ pool: text(search.pool), q: text(search.q), do: text(search.do) }),
  component: lazyRouteComponent(() => import("@/features/nodes/NodesPage"), "NodesPage"),
});

export const artifactsRoute = createRoute({
  getParentRoute: () => root,
  path: "/artifacts",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ q: text(search.q), do: choice(search.do, ["upload"] as const) }),
  component: lazyRouteComponent(() => import("@/features/artifacts/ArtifactsPage"), "ArtifactsPage"),
});

export const artifactRoute = createRoute({
  getParentRoute: () => root,
  path: "/artifacts/$digest",
  component: lazyRouteComponent(() => import("@/features/artifacts/ArtifactPage"), "ArtifactPage"),
});

export const namespacesRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/namespaces",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ q: text(search.q), do: choice(search.do, ["new"] as const) }),
  component: lazyRouteComponent(() => import("@/features/admin/NamespacesPage"), "NamespacesPage"),
});

export const namespaceRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/namespaces/$namespace",
  component: lazyRouteComponent(() => import("@/features/admin/NamespacePage"), "NamespacePage"),
});

export const membersRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/members",
  validateSearch: (search: Record<string, unknown>) =>
    optional({ q: text(search.q), do: choice(search.do, ["new"] as const) }),
  component: lazyRouteComponent(() => import("@/features/admin/MembersPage"), "MembersPage"),
});

export const tokensRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/tokens",
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      q: text(search.q),
      all: search.all ? true : undefined,
      do: choice(search.do, ["new"] as const),
    }),
  component: lazyRouteComponent(() => import("@/features/admin/TokensPage"), "TokensPage"),
});

export const auditRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/audit",
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      actor: text(search.actor),
      operation: text(search.operation),
      target: text(search.target),
      from: text(search.from),
      until: text(search.until),
    }),
  component: lazyRouteComponent(() => import("@/features/admin/AuditPage"), "AuditPage"),
});

export const clusterRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/cluster",
  component: lazyRouteComponent(() => import("@/features/admin/ClusterPage"), "ClusterPage"),
});

export const doctorRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/doctor",
  component: lazyRouteComponent(() => import("@/features/admin/DoctorPage"), "DoctorPage"),
});

export const meRoute = createRoute({
  getParentRoute: () => root,
  path: "/me",
  component: lazyRouteComponent(() => import("@/features/me/MePage"), "MePage"),
});

export const signInRoute = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>) => optional({ next: text(search.next) }),
  component: lazyRouteComponent(() => import("@/features/sign-in/SignedIn"), "SignedIn"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    overviewRoute,
    runsRoute,
    queueRoute,
    runRoute,
    jobsRoute,
    jobRoute,
    newJobRoute,
    editJobRoute,
    triggerRoute,
    backfillsRoute,
    heatRoute,
    calendarsRoute,
    calendarRoute,
    nodesRoute,
    artifactsRoute,
    artifactRoute,
    namespacesRoute,
    namespaceRoute,
    membersRoute,
    tokensRoute,
    auditRoute,
    clusterRoute,
    doctorRoute,
    meRoute,
    signInRoute,
  ]),
  basepath: new URL(document.baseURI).pathname.replace(/\/$/, "") || "/",
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
