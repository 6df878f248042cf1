import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import type { Column } from "@/components/ui/DataTable";
import { fieldsNamed } from "@/components/ui/exports";
import { ResourceBar } from "@/components/ui/ResourceBar";
import { StateBadge } from "@/components/ui/StateBadge";
import { RelativeTime } from "@/components/ui/Time";
import type { Node } from "@/lib/api/schema";
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
      width: "minmax(120px, 1.2fr)",
      phone: 1,
      cell: (node) => <strong title={node.id}>{node.name}</strong>,
    },
    {
      id: "pool",
      label: t("nodes.col.pool"),
      width: "minmax(72px, 0.6fr)",
      phone: 2,
      cell: (node) => node.pool,
    },
    { id: "cpu", label: t("nodes.col.cpu"), width: "168px", phone: 2, cell: (node) => cpu(node, t) },
    { id: "memory", label: t("nodes.col.memory"), width: "208px", cell: (node) => memory(node, t) },
    {
      id: "slots",
      label: t("nodes.col.slots"),
      width: "80px",
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
      width: "104px",
      cell: (node) => <RelativeTime at={node.seen_at ?? node.updated_at} />,
    },
    { id: "labels", label: t("nodes.col.labels"), width: "minmax(120px, 1.6fr)", cell: labels },
  ];
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

function cpu(node: Node, t: TFunction) {
  const all = toCores(node.capacity.cpu);
  const used =
    node.cpu_used_milli === undefined || node.cpu_used_milli === null
      ? undefined
      : node.cpu_used_milli / 1000;
  return (
    <ResourceBar label={t("nodes.used")} share={share(used, all)} text={`${cores(used)} / ${cores(all)}`} />
  );
}

function memory(node: Node, t: TFunction) {
  const all = toBytes(node.capacity.memory);
  const used = node.memory_used_bytes ?? undefined;
  return (
    <ResourceBar label={t("nodes.used")} share={share(used, all)} text={`${bytes(used)} / ${bytes(all)}`} />
  );
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
