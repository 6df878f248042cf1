// The pages of the console: the navigation, the `g` keys and the palette are made from this one list.
import {
  IconCalendarEvent,
  IconCalendarOff,
  IconCalendarRepeat,
  IconCalendarStats,
  IconClipboardList,
  IconFolders,
  IconHistory,
  IconHourglass,
  IconKey,
  IconLayoutDashboard,
  IconPackage,
  IconServer,
  IconStethoscope,
  IconTopologyStar3,
  IconUsers,
} from "@tabler/icons-react";
import type { Permission } from "@/lib/api/permissions";

interface PageFacts {
  to: string;
  /** Its word is `nav.<name>`. */
  name: string;
  icon: typeof IconServer;
  /** Who may not do this does not see the page. */
  needs: Permission;
  /** `g` and this letter go there. */
  key?: string;
  /** The page whose tabs lead to it: it does not stand in the navigation itself. */
  within?: string;
  /** Whether it stands in the bar of a phone; the others are behind More. */
  phone?: boolean;
}

const GROUPS = [
  {
    group: "work",
    pages: [
      { to: "/", name: "overview", icon: IconLayoutDashboard, needs: "run.list", key: "o", phone: true },
      { to: "/runs", name: "runs", icon: IconHistory, needs: "run.list", key: "r", phone: true },
      { to: "/queue", name: "queue", icon: IconHourglass, needs: "queue", key: "q" },
      { to: "/jobs", name: "jobs", icon: IconCalendarEvent, needs: "job.list", key: "j", phone: true },
      { to: "/calendar", name: "calendar", icon: IconCalendarStats, needs: "trigger.load", key: "c" },
      {
        to: "/calendars",
        name: "calendars",
        icon: IconCalendarOff,
        needs: "calendar.list",
        within: "/calendar",
      },
      {
        to: "/backfills",
        name: "backfills",
        icon: IconCalendarRepeat,
        needs: "backfill.list_all",
        within: "/calendar",
      },
    ],
  },
  {
    group: "capacity",
    pages: [
      { to: "/nodes", name: "nodes", icon: IconServer, needs: "node.glance", key: "n", phone: true },
      { to: "/artifacts", name: "artifacts", icon: IconPackage, needs: "artifact.list" },
    ],
  },
  {
    group: "admin",
    pages: [
      { to: "/admin/namespaces", name: "namespaces", icon: IconFolders, needs: "namespace.list" },
      { to: "/admin/members", name: "members", icon: IconUsers, needs: "member.list" },
      { to: "/admin/tokens", name: "tokens", icon: IconKey, needs: "token.list" },
      { to: "/admin/audit", name: "audit", icon: IconClipboardList, needs: "audit.list" },
      { to: "/admin/cluster", name: "cluster", icon: IconTopologyStar3, needs: "cluster.get" },
      { to: "/admin/doctor", name: "doctor", icon: IconStethoscope, needs: "doctor" },
    ],
  },
] as const satisfies { group: string; pages: PageFacts[] }[];

type Group = (typeof GROUPS)[number];
type Listed = Group["pages"][number];
export type NavPage = PageFacts & { to: Listed["to"]; name: Listed["name"] };

export const NAVIGATION: readonly { group: Group["group"]; pages: readonly NavPage[] }[] = GROUPS;

export const PAGES = NAVIGATION.flatMap(({ pages }) => pages);

/** The page that an address belongs to: the one with the longest path. */
export const pageAt = (pathname: string) =>
  PAGES.filter(({ to }) => pathname === to || (to !== "/" && pathname.startsWith(`${to}/`))).sort(
    (a, b) => b.to.length - a.to.length,
  )[0];
