import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import type { Column } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { ResourceBar } from "@/components/ui/ResourceBar";
import { Sparkline } from "@/components/ui/Sparkline";
import { StateBadge } from "@/components/ui/StateBadge";
import { RelativeTime } from "@/components/ui/Time";
import type { Node, NodeLoad } from "@/lib/api/schema";
import { labelTexts } from "@/lib/labels";
import { bytes, cores, toBytes, toCores } from "@/lib/size";
import { nodeFace } from "@/lib/state/node";
import type { NodeVerb } from "./NodeDialog";
import { verbsOf } from "./verbs";

export const NODE_EXPORT = {
  name: "nodes",
  fields: {
    ...fieldsNamed<Node>(
      "id",
      "name",
      "pool",
      "state",
      "connected",
      "running",
      "slots",
      "cpu_used_milli",
      "memory_used_bytes",
      "seen_at",
    ),
    capacity: (node: Node) => node.capacity,
    labels: (node: Node) => [...labelTexts(node.labels), ...labelTexts(node.assigned_labels)].join(" "),
  },
};

const share = (used: number | undefined, all: number | undefined) =>
  used === undefined || !all ? undefined : used / all;

export function nodeColumns(
  t: TFunction,
  mayAct: boolean,
  onAct: (verb: NodeVerb, node: Node) => void,
  loads: Map<string, NodeLoad | undefined>,
  isFull: boolean,
): Column<Node>[] {
  const columns: Column<Node>[] = [
    {
      id: "state",
      label: t("nodes.col.state"),
      width: "116px",
      phone: 1,
      cell: (node) => <StateBadge kind="node" state={nodeFace(node)} />,
    },
    {
      id: "name",
      label: t("nodes.col.name"),
      width: "minmax(96px, 1.2fr)",
      phone: 1,
      cell: (node) => <strong title={node.id}>{node.name}</strong>,
    },
    {
      id: "pool",
      label: t("nodes.col.pool"),
      width: "minmax(64px, 0.6fr)",
      phone: 2,
      cell: (node) => node.pool,
    },
    { id: "cpu", label: t("nodes.col.cpu"), width: "132px", phone: 2, cell: (node) => cpu(node, t) },
    { id: "memory", label: t("nodes.col.memory"), width: "168px", cell: (node) => memory(node, t) },
    {
      id: "slots",
      label: t("nodes.col.slots"),
      width: "64px",
      align: "end",
      phone: 2,
      cell: (node) => (
        <Link to="/runs" search={{ q: `node:${node.id} state:running` }}>
          {node.running ?? "–"}/{node.slots}
        </Link>
      ),
    },
    {
      id: "seen",
      label: t("nodes.col.seen"),
      width: "88px",
      cell: (node) => <RelativeTime at={node.seen_at ?? node.updated_at} />,
    },
  ];
  if (isFull) {
    columns.splice(5, 0, {
      id: "load",
      label: t("nodes.col.load"),
      width: "92px",
      cell: (node) => loadLine(node, loads.get(node.id), t),
    });
    columns.push(
      {
        id: "agent",
        label: t("nodes.col.agent"),
        width: "48px",
        cell: (node) => node.agent_version ?? "–",
      },
      { id: "labels", label: t("nodes.col.labels"), width: "minmax(64px, 1.6fr)", cell: labels },
    );
  }
  if (mayAct)
    columns.push({
      id: "actions",
      label: "",
      width: "36px",
      phone: "end",
      cell: (node) => actions(node, t, onAct),
    });
  return columns;
}

/** Reserved and used on one scale: the bar is what is reserved, the mark on it what is used. */
function cpu(node: Node, t: TFunction) {
  const all = toCores(node.capacity.cpu);
  const reserved = node.reserved ? (toCores(node.reserved.cpu) ?? 0) : undefined;
  const used = node.cpu_used_milli == null ? undefined : node.cpu_used_milli / 1000;
  return (
    <ResourceBar
      label={t("nodes.reserved_used", { reserved: cores(reserved), used: cores(used), all: cores(all) })}
      share={share(reserved, all)}
      used={node.connected ? share(used, all) : undefined}
      text={`${cores(reserved)} / ${cores(all)}`}
    />
  );
}

function memory(node: Node, t: TFunction) {
  const all = toBytes(node.capacity.memory);
  const reserved = node.reserved ? (toBytes(node.reserved.memory) ?? 0) : undefined;
  const used = node.memory_used_bytes ?? undefined;
  return (
    <ResourceBar
      label={t("nodes.reserved_used", { reserved: bytes(reserved), used: bytes(used), all: bytes(all) })}
      share={share(reserved, all)}
      used={node.connected ? share(used, all) : undefined}
      text={`${bytes(reserved)} / ${bytes(all)}`}
    />
  );
}

function loadLine(node: Node, load: NodeLoad | undefined, t: TFunction) {
  if (!load) return "–";
  const most = Math.max(...load.cpu_milli.map((value) => value ?? 0));
  const all = (toCores(node.capacity.cpu) ?? 0) * 1000;
  const label = t("nodes.load", { most: cores(most / 1000), all: cores(all / 1000) });
  return <Sparkline values={load.cpu_milli} most={Math.max(all, most)} label={label} />;
}

function labels(node: Node) {
  const texts = [...labelTexts(node.labels), ...labelTexts(node.assigned_labels)];
  return (
    <span title={texts.join(", ")}>
      {texts.map((text) => (
        <span className="ms-label" key={text}>
          {text}
        </span>
      ))}
    </span>
  );
}

function actions(node: Node, t: TFunction, onAct: (verb: NodeVerb, node: Node) => void) {
  const verbs = verbsOf(node);
  if (verbs.length === 0) return null;
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon size={24} aria-label={t("nodes.actions", { node: node.name })}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {verbs.map((verb) => (
          <Menu.Item key={verb} color={verb === "lose" ? "red" : undefined} onClick={() => onAct(verb, node)}>
            {t(`nodes.verb.${verb}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
