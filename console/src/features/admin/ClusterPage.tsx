import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "@/app/session";
import { Confirm } from "@/components/ui/Confirm";
import { type Column, DataTable } from "@/components/ui/DataTable";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { fieldsNamed } from "@/components/ui/exports";
import { PageHeader } from "@/components/ui/PageHeader";
import { toneStyle } from "@/components/ui/StateBadge";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { RelativeTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { Cell, Cluster, SchedulerMember } from "@/lib/api/schema";
import { millis } from "@/lib/time/format";
import "./admin.css";

const REFRESH_MS = 3000;
const clusterKey = ["cluster"];

const SERVERS = {
  name: "servers",
  fields: fieldsNamed<SchedulerMember>("id", "address", "software", "load", "seen_at"),
};
const CELLS = {
  name: "cells",
  fields: fieldsNamed<Cell>(
    "cell",
    "holder",
    "epoch",
    "loaded",
    "running",
    "waiting",
    "nodes",
    "setbacks",
    "lease_until",
    "pause",
  ),
};

/** Servers and the cells that they own. */
export function ClusterPage() {
  const { t } = useTranslation();
  const mayDo = useMay();
  const [chosen, setChosen] = useState<number>();
  const cluster = useQuery({
    queryKey: clusterKey,
    queryFn: ({ signal }) => call("cluster_get", { signal }),
    refetchInterval: REFRESH_MS,
  });
  const { data } = cluster;
  const mayPause = mayDo("cell.pause");
  const servers = useMemo(() => serverColumns(t), [t]);
  const cells = useMemo(() => cellColumns(t, data, mayPause, setChosen), [t, data, mayPause]);
  const cell = data?.cells.find((each) => each.cell === chosen);
  return (
    <div className="ms-page" data-fixed>
      <PageHeader
        title={t("nav.cluster")}
        note={
          data && (
            <>
              Mainspring {data.software} · {t("admin.cluster.as_of")} <RelativeTime at={data.now} />
            </>
          )
        }
      />
      {cluster.isPending ? (
        <TableSkeleton />
      ) : !data ? (
        <ErrorFace error={cluster.error} onRetry={() => void cluster.refetch()} />
      ) : (
        <>
          <h2>{t("admin.cluster.servers")}</h2>
          <DataTable
            label={t("admin.cluster.servers")}
            columns={servers}
            rows={data.members}
            idOf={(row) => row.id}
            exportAs={SERVERS}
            fits
          />
          <h2>{t("admin.cluster.cells")}</h2>
          <DataTable
            label={t("admin.cluster.cells")}
            columns={cells}
            rows={data.cells}
            idOf={(row) => String(row.cell)}
            exportAs={CELLS}
            fits
          />
        </>
      )}
      {cell && <CellDialog cell={cell} onClose={() => setChosen(undefined)} />}
    </div>
  );
}

function serverColumns(t: TFunction): Column<SchedulerMember>[] {
  return [
    {
      id: "address",
      label: t("admin.cluster.address"),
      width: "minmax(180px, 2fr)",
      phone: 1,
      cell: (row) => <strong title={row.address}>{row.address}</strong>,
    },
    {
      id: "id",
      label: t("admin.cluster.member"),
      width: "minmax(160px, 1.4fr)",
      cell: (row) => <code title={row.id}>…{row.id.slice(-6)}</code>,
    },
    {
      id: "software",
      label: t("admin.cluster.version"),
      width: "160px",
      phone: 2,
      cell: (row) => row.software,
    },
    {
      id: "load",
      label: t("admin.cluster.load"),
      width: "100px",
      align: "end",
      cell: (row) => row.load,
    },
    {
      id: "seen",
      label: t("admin.cluster.seen"),
      width: "120px",
      phone: 2,
      cell: (row) => <RelativeTime at={row.seen_at} />,
    },
  ];
}

const count = (value: number | null | undefined) => value ?? "–";

function cellColumns(
  t: TFunction,
  cluster: Cluster | undefined,
  mayPause: boolean,
  onAct: (cell: number) => void,
): Column<Cell>[] {
  const owner = (cell: Cell) => cluster?.members.find((member) => member.id === cell.holder)?.address;
  const columns: Column<Cell>[] = [
    {
      id: "cell",
      label: t("admin.cluster.cell"),
      width: "72px",
      phone: 1,
      cell: (row) => <strong>{row.cell}</strong>,
    },
    {
      id: "state",
      label: t("admin.cluster.state"),
      width: "minmax(130px, 1.4fr)",
      phone: 1,
      cell: (row) => <CellState cell={row} now={millis(cluster?.now) ?? 0} />,
    },
    {
      id: "owner",
      label: t("admin.cluster.owner"),
      width: "minmax(140px, 1.6fr)",
      phone: 2,
      cell: (row) => <span title={row.holder ?? ""}>{owner(row) ?? row.holder ?? "–"}</span>,
    },
    {
      id: "running",
      label: t("admin.cluster.running"),
      width: "80px",
      align: "end",
      phone: 2,
      cell: (row) => count(row.running),
    },
    {
      id: "waiting",
      label: t("admin.cluster.waiting"),
      width: "80px",
      align: "end",
      cell: (row) => count(row.waiting),
    },
    { id: "nodes", label: t("nav.nodes"), width: "64px", align: "end", cell: (row) => count(row.nodes) },
    { id: "epoch", label: t("admin.cluster.epoch"), width: "64px", align: "end", cell: (row) => row.epoch },
    {
      id: "setbacks",
      label: t("admin.cluster.setbacks"),
      width: "80px",
      align: "end",
      cell: (row) => count(row.setbacks),
    },
  ];
  if (mayPause)
    columns.push({
      id: "actions",
      label: "",
      width: "104px",
      align: "end",
      phone: "end",
      cell: (row) => (
        <Button
          size="compact-xs"
          aria-label={t(row.pause ? "admin.cluster.resume_named" : "admin.cluster.pause_named", {
            cell: row.cell,
          })}
          onClick={() => onAct(row.cell)}
        >
          {row.pause ? t("admin.cluster.resume") : t("admin.cluster.pause")}
        </Button>
      ),
    });
  return columns;
}

/** Paused, without an owner, loading, or at work. */
function CellState({ cell, now }: { cell: Cell; now: number }) {
  const { t } = useTranslation();
  if (cell.pause) {
    const { by, note } = cell.pause;
    return (
      <span title={note}>
        <span className="ms-badge ms-badge-plain" style={toneStyle("cancelled")}>
          {t("admin.cluster.paused")}
        </span>{" "}
        {[by, note].filter(Boolean).join(": ")}
      </span>
    );
  }
  const isOwned = Boolean(cell.holder) && (millis(cell.lease_until) ?? 0) > now;
  const [word, tone] = !isOwned
    ? ([t("admin.cluster.unowned"), "final_failed"] as const)
    : cell.loaded === false
      ? ([t("admin.cluster.loading"), "waiting"] as const)
      : ([t("admin.cluster.owned"), "success"] as const);
  return (
    <span className="ms-badge ms-badge-plain" style={toneStyle(tone)}>
      {word}
    </span>
  );
}

function CellDialog({ cell, onClose }: { cell: Cell; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [note, setNote] = useState("");
  // What was asked stays asked, whatever the page learns meanwhile; the tag tells when it changed.
  const [verb] = useState<"pause" | "resume">(cell.pause ? "resume" : "pause");
  const act = useMutation({
    mutationFn: () =>
      call(verb === "pause" ? "cell_pause" : "cell_resume", {
        path: { cell: cell.cell },
        body: { note },
        ifMatch: cell.revision ?? 0,
      }),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: clusterKey }),
  });
  return (
    <Confirm
      title={t(`admin.cluster.${verb}_title`, { cell: cell.cell })}
      text={t(`admin.cluster.${verb}_text`)}
      action={t(`admin.cluster.${verb}_named`, { cell: cell.cell })}
      busy={act.isPending}
      error={act.error}
      onConfirm={() => act.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={t("jobs.note")}
        value={note}
        maxLength={4096}
        data-autofocus
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </Confirm>
  );
}
