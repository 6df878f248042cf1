import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { usePageKeys } from "@/app/keys";
import { useZone } from "@/app/preferences";
import { runRoute } from "@/app/router";
import { explain } from "@/lib/api/problem";
import type { Run } from "@/lib/api/schema";
import { downloadText } from "@/lib/log/download";
import { keyOf, placeOf } from "@/lib/log/lines";
import type { LogStore } from "@/lib/log/store";
import { bytes } from "@/lib/size";
import { isEnded } from "@/lib/state/run";
import { clock, millis } from "@/lib/time/format";
import { type LogOptions, type LogSearch, LogToolbar } from "./LogToolbar";
import { LogView } from "./LogView";
import { findIn, shownRows, step, tallyOf } from "./logRows";
import { useLineLink, useOpenedAtEnd } from "./useLogPlace";
import { useLogSearch } from "./useLogSearch";

interface LogPanelProps {
  run: Run;
  store: LogStore;
  attempts: number[];
  onAttempt: (attempt: number) => void;
}

export function LogPanel({ run, store, attempts, onAttempt }: LogPanelProps) {
  const { t, i18n } = useTranslation();
  const number = (value: number) => new Intl.NumberFormat(i18n.language).format(value);
  const search = runRoute.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const isFailure = run.state === "final_failed" || run.state === "failed";
  const [follow, setFollow] = useState(!search.line && !search.find && (!isEnded(run.state) || isFailure));
  const [options, setOptions] = useState<LogOptions>({ time: "off", wrap: false, full: false });
  const [matchKey, setMatchKey] = useState<string>();
  const [target, setTarget] = useState(search.line);

  const wanted: LogSearch = {
    find: search.find ?? "",
    re: search.re ?? false,
    case: search.case ?? false,
    stream: search.stream,
  };
  const rows = useMemo(
    () => (store.version >= 0 ? shownRows(store.rows, store.before, wanted.stream) : []),
    [store, store.version, store.before, wanted.stream],
  );
  const found = useMemo(
    () => findIn(rows, wanted.find, wanted.re, wanted.case),
    [rows, wanted.find, wanted.re, wanted.case],
  );
  const elsewhere = useLogSearch(run.id, store.attempt, wanted, !store.isWhole);
  const isHere = store.isWhole;
  const match = useMemo(() => rows.findIndex((row) => row.key === matchKey), [rows, matchKey]);
  useEffect(() => {
    store.isHeld = !follow;
  }, [store, follow]);
  const toFollow = (wants: boolean) => {
    setFollow(wants);
    if (wants) void store.toEnd();
  };
  const onSearch = (change: Partial<LogSearch>) => {
    if (change.find) setFollow(false);
    setMatchKey(undefined);
    const clean = Object.fromEntries(
      Object.entries({ ...change }).map(([name, value]) => [name, value || undefined]),
    );
    void navigate({ search: (before) => ({ ...before, ...clean }), replace: true });
  };
  const goTo = async (key: string) => {
    setFollow(false);
    setMatchKey(key);
    setTarget(undefined);
    if (await store.show(placeOf(key))) setTarget(key);
  };
  const onMatch = async (by: 1 | -1) => {
    if (isHere) {
      const next = step(found.rows, match, by);
      if (next !== undefined) await goTo(rows[next]?.key ?? "");
      return;
    }
    if (!elsewhere) return;
    const now = elsewhere.matches.findIndex((one) => keyOf(one) === matchKey);
    const isLast = by === 1 && now === elsewhere.matches.length - 1;
    const matches = isLast ? await elsewhere.more() : elsewhere.matches;
    const next = matches.at(now < 0 ? (by === 1 ? 0 : -1) : (now + by) % matches.length);
    if (next) await goTo(keyOf(next));
  };
  const tally = tallyOf(isHere ? found : elsewhere, isHere ? match : matchKey);
  useOpenedAtEnd(store, !search.line && !search.find, setFollow);
  useLineLink(store, search.line);
  const at = attempts.indexOf(store.attempt);
  usePageKeys({
    f: () => toFollow(true),
    n: () => void onMatch(1),

    // biome-ignore lint/complexity/useLiteralKeys: a plain `N` is taken for a component.
    ["N"]: () => void onMatch(-1),
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
        tally={tally}
        onMatch={(by) => void onMatch(by)}
        options={options}
        onOptions={(change) => setOptions({ ...options, ...change })}
        follow={follow}
        canFollow={store.phase !== "ended"}
        onFollow={() => toFollow(!follow)}
        onDownload={() => void downloadText(run.id, store.attempt)}
      />
      {store.before > 0 && (
        <MoreRow onLoad={() => void store.earlier()}>
          {t("run.log.earlier", { count: store.before, text: number(store.before) })}
        </MoreRow>
      )}
      <LogView
        rows={rows}
        found={found}
        current={match}
        time={options.time}
        startedAt={millis(run.started_at)}
        wrap={options.wrap}
        follow={follow}
        onFollow={toFollow}
        onFirst={() => void store.earlier()}
        onLast={() => void store.later()}
        line={search.line}
        target={target}
        onLine={(key) =>
          void navigate({
            search: (before) => ({ ...before, line: before.line === key ? undefined : key }),
            replace: true,
          })
        }
      />
      {store.phase === "apart" && (
        <MoreRow onLoad={() => void store.later()}>
          {t("run.log.later", { size: bytes(Math.max(0, store.length - store.read)) })}
        </MoreRow>
      )}
      <LogStatus
        store={store}
        rows={wanted.stream || store.phase === "apart" ? rows.length : store.before + rows.length}
      />
    </div>
  );
}

/** A row that stands for what is not loaded. */
function MoreRow({ onLoad, children }: { onLoad: () => void; children: ReactNode }) {
  return (
    <button type="button" className="ms-log-gap ms-log-rest" onClick={onLoad}>
      {children}
    </button>
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
