import { Skeleton, Tabs } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { RUN_TABS, runRoute } from "@/app/router";
import { ZoneOfJob } from "@/components/jobs/ZoneOfJob";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import type { Attempt, Run } from "@/lib/api/schema";
import { isEnded } from "@/lib/state/run";
import { AttemptsTab } from "./AttemptsTab";
import { EventsTab } from "./EventsTab";
import { FailureCard } from "./FailureCard";
import { LogPanel } from "./LogPanel";
import { ParamsTab } from "./ParamsTab";
import { RunHeader } from "./RunHeader";
import { Timeline } from "./Timeline";
import { useLogStore } from "./useLogStore";
import { rereadRun, useRun } from "./useRun";
import { WhyCard } from "./WhyCard";
import "./run.css";

const TAIL_LINES = 12;

export function RunPage() {
  const { run: id } = runRoute.useParams();
  const { run, why, attempts, timeline } = useRun(id);
  if (run.error && !run.data) {
    return (
      <div className="ms-page">
        <ErrorFace error={run.error} onRetry={() => void run.refetch()} />
      </div>
    );
  }
  if (!run.data) return <Loading />;
  const { namespace, job_name, trigger } = run.data;
  return (
    <ZoneOfJob namespace={namespace} job={run.data.ad_hoc ? undefined : job_name} trigger={trigger}>
      <Loaded
        key={id}
        run={run.data}
        why={why.data}
        attempts={attempts.data?.items ?? []}
        events={timeline}
      />
    </ZoneOfJob>
  );
}

interface LoadedProps {
  run: Run;
  why: ReturnType<typeof useRun>["why"]["data"];
  attempts: Attempt[];
  events: ReturnType<typeof useRun>["timeline"];
}

function Loaded({ run, why, attempts, events }: LoadedProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate({ from: "/runs/$run" });
  const search = runRoute.useSearch();
  const attempt = search.attempt ?? run.attempt;
  const onNextAttempt = useCallback(() => void rereadRun(client, run.id), [client, run.id]);
  const store = useLogStore(run.id, attempt, search.line, onNextAttempt);
  const numbers = useMemo(() => Array.from({ length: run.attempt }, (_, index) => index + 1), [run.attempt]);
  const pick = (number: number) =>
    void navigate({
      search: (before) => ({
        ...before,
        attempt: number === run.attempt ? undefined : number,
        line: undefined,
        tab: undefined,
      }),
    });
  const hasFailed = run.state === "final_failed" || run.state === "failed";
  const tab = search.tab ?? "log";
  const counts = {
    log: "",
    params: "",
    attempts: ` ${attempts.length}`,
    events: ` ${events.data?.items.length ?? ""}`,
  };
  return (
    <div className="ms-page ms-run">
      <RunHeader run={run} />
      <WhyCard run={run} why={why} />
      {attempts.length > 0 && <Timeline run={run} attempts={attempts} current={attempt} onPick={pick} />}
      {hasFailed && (
        <FailureCard
          run={run}
          attempt={attempts.find((each) => each.number === attempt)}
          tail={store?.last(TAIL_LINES) ?? []}
        />
      )}
      <Tabs
        value={tab}
        keepMounted={false}
        className="ms-run-tabs"
        onChange={(value) =>
          void navigate({
            search: (before) => ({ ...before, tab: value === "log" ? undefined : (value as "params") }),
          })
        }
      >
        <Tabs.List>
          {RUN_TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`run.tab.${name}`)}
              <span className="ms-faint">{counts[name]}</span>
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="log">
          {store ? (
            <LogPanel key={store.attempt} run={run} store={store} attempts={numbers} onAttempt={pick} />
          ) : (
            <Face kind="empty" title={isEnded(run.state) ? t("run.log.never") : t("run.log.not_begun")} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="params">
          <ParamsTab run={run} />
        </Tabs.Panel>
        <Tabs.Panel value="attempts">
          <AttemptsTab attempts={attempts} onPick={pick} />
        </Tabs.Panel>
        <Tabs.Panel value="events">
          {events.error ? (
            <ErrorFace error={events.error} onRetry={() => void events.refetch()} />
          ) : (
            <EventsTab entries={events.data?.items ?? []} />
          )}
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

function Loading() {
  return (
    <div className="ms-page" aria-busy="true">
      <Skeleton height={36} width="60%" />
      <Skeleton height={64} />
      <Skeleton height={96} />
      <Skeleton height={320} />
    </div>
  );
}
