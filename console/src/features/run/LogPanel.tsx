import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageKeys } from "@/app/keys";
import { useZone } from "@/app/preferences";
import { runRoute } from "@/app/router";
import { explain } from "@/lib/api/problem";
import type { Run } from "@/lib/api/schema";
import { downloadText } from "@/lib/log/download";
import type { LogStore } from "@/lib/log/store";
import { bytes } from "@/lib/size";
import { isEnded } from "@/lib/state/run";
import { clock, millis } from "@/lib/time/format";
import { type LogOptions, type LogSearch, LogToolbar } from "./LogToolbar";
import { type LogHandle, LogView } from "./LogView";
import { findIn, shownRows, step } from "./logRows";

interface LogPanelProps {
  run: Run;
  store: LogStore;
  attempts: number[];
  onAttempt: (attempt: number) => void;
}

export function LogPanel({ run, store, attempts, onAttempt }: LogPanelProps) {
  const { t } = useTranslation();
  const search = runRoute.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const handle = useRef<LogHandle>(null);
  const isFailure = run.state === "final_failed" || run.state === "failed";
  const [follow, setFollow] = useState(!search.line && !search.find && (!isEnded(run.state) || isFailure));
  const [options, setOptions] = useState<LogOptions>({ time: "off", wrap: false, full: false });
  const [match, setMatch] = useState(-1);

  const wanted: LogSearch = {
    find: search.find ?? "",
    re: search.re ?? false,
    case: search.case ?? false,
    stream: search.stream,
  };
  const rows = useMemo(
    () => (store.version >= 0 ? shownRows(store.rows, store.dropped, wanted.stream) : []),
    [store, store.version, store.dropped, wanted.stream],
  );
  const found = useMemo(
    () => findIn(rows, wanted.find, wanted.re, wanted.case),
    [rows, wanted.find, wanted.re, wanted.case],
  );
  const onSearch = (change: Partial<LogSearch>) => {
    if (change.find) setFollow(false);
    setMatch(-1);
    const clean = Object.fromEntries(
      Object.entries({ ...change }).map(([name, value]) => [name, value || undefined]),
    );
    void navigate({ search: (before) => ({ ...before, ...clean }), replace: true });
  };
  const onMatch = (by: 1 | -1) => {
    const next = step(found.rows, match, by);
    if (next === undefined) return;
    setFollow(false);
    setMatch(next);
    handle.current?.toRow(next);
  };
  const at = attempts.indexOf(store.attempt);
  usePageKeys({
    f: () => setFollow(true),
    n: () => onMatch(1),

    // biome-ignore lint/complexity/useLiteralKeys: a plain `N` is taken for a component.
    ["N"]: () => onMatch(-1),
    "[": at > 0 ? () => onAttempt(attempts[at - 1] ?? store.attempt) : undefined,
    "]": at < attempts.length - 1 ? () => onAttempt(attempts[at + 1] ?? store.attempt) : undefined,
  });
  useFindKey();

  return (
    <div className="ms-log-panel" data-full={options.full || undefined}>
      <LogToolbar
        attempts={attempts}
        attempt={store.attempt}
        onAttempt={onAttempt}
        search={wanted}
        onSearch={onSearch}
        found={found}
        match={match}
        onMatch={onMatch}
        options={options}
        onOptions={(change) => setOptions({ ...options, ...change })}
        follow={follow}
        canFollow={store.phase !== "ended"}
        onFollow={() => setFollow(!follow)}
        onDownload={() => void downloadText(run.id, store.attempt)}
      />
      {store.dropped > 0 && <p className="ms-log-gap">{t("run.log.dropped", { count: store.dropped })}</p>}
      <LogView
        rows={rows}
        found={found}
        current={match}
        time={options.time}
        startedAt={millis(run.started_at)}
        wrap={options.wrap}
        follow={follow}
        onFollow={setFollow}
        line={search.line}
        handle={handle}
        onLine={(key) =>
          void navigate({
            search: (before) => ({ ...before, line: before.line === key ? undefined : key }),
            replace: true,
          })
        }
      />
      <LogStatus store={store} rows={rows.length} />
    </div>
  );
}

/** What the log's end means: more comes, it is complete, or the connection is lost. */
function LogStatus({ store, rows }: { store: LogStore; rows: number }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const last = store.rows.at(-1)?.at;
  const count = new Intl.NumberFormat(i18n.language).format(rows);
  const cut = store.rows.reduce((sum, row) => sum + (row.gap ?? 0), 0);
  const complete = last === undefined ? "–" : clock(last, zone);
  return (
    <div className="ms-log-status" role="status">
      {store.phase === "failed"
        ? explain(store.error, t).title
        : t(`run.log.phase_${store.phase}`, { at: complete })}
      {cut > 0 && <span>{t("run.log.cut", { size: bytes(cut) })}</span>}
      <span className="ms-grow" />
      {t("run.log.lines", { count: rows, text: count })}
    </div>
  );
}

/** Ctrl-F goes to our search; a second one is the browser's. */
function useFindKey() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== "f") return;
      const field = document.querySelector<HTMLInputElement>("[data-log-find]");
      if (!field || document.activeElement === field) return;
      event.preventDefault();
      field.focus();
      field.select();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
