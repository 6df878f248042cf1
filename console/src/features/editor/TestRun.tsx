import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { StateBadge } from "@/components/ui/StateBadge";
import { Elapsed } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import { plain } from "@/lib/log/ansi";
import { isEnded } from "@/lib/state/run";
import { causeWords, reasonWords } from "@/lib/state/words";

const REFRESH_MS = 700;
const TAIL = 40;

/** The draft's run, with the last lines of its output. */
export function TestRun({ id }: { id: string }) {
  const { t, i18n } = useTranslation();
  const run = useQuery({
    queryKey: ["run", id, "run"],
    queryFn: ({ signal }) => call("run_get", { path: { run: id }, signal }),
    refetchInterval: ({ state }) => (state.data && isEnded(state.data.state) ? false : REFRESH_MS),
  });
  const state = run.data?.state;
  const log = useQuery({
    queryKey: ["run", id, "test-log", run.data?.attempt],
    queryFn: ({ signal }) => call("run_logs", { path: { run: id }, signal }),
    enabled: (run.data?.attempt ?? 0) > 0,
    refetchInterval: ({ state: { data } }) => (data?.ended ? false : REFRESH_MS),
  });
  if (!run.data || !state) return <p className="ms-muted">…</p>;
  const reason =
    run.data.reason && !isEnded(state)
      ? reasonWords(run.data.reason, t, i18n.language, (at) => at).message
      : "";
  const cause = run.data.cause && state !== "success" ? causeWords(run.data.cause, i18n.language) : "";
  const text = (log.data?.lines ?? []).map((line) => line.text).join("");
  const lines = text.split("\n").slice(-TAIL - 1);
  return (
    <div className="ms-stack">
      <p>
        <StateBadge kind="run" state={state} />{" "}
        {run.data.started_at && (
          <Elapsed from={run.data.started_at} until={isEnded(state) ? run.data.finished_at : undefined} />
        )}{" "}
        {cause} {reason}
      </p>
      {text && (
        <pre className="ms-code" tabIndex={0}>
          {lines.map(plain).join("\n")}
        </pre>
      )}
    </div>
  );
}
