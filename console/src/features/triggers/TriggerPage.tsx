import { Skeleton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { JobZone } from "@/app/preferences";
import { triggerRoute } from "@/app/router";
import { useNamespace } from "@/app/useNamespace";
import { NextFiring } from "@/components/triggers/NextFiring";
import { TriggerBadge } from "@/components/triggers/TriggerBadge";
import { inWords } from "@/components/triggers/triggers";
import type { Range } from "@/components/ui/CadenceChart";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { PageHeader } from "@/components/ui/PageHeader";
import { ZonedTime } from "@/components/ui/Time";
import type { JobTrigger } from "@/lib/api/schema";
import { zoneOf } from "@/lib/time/zone";
import { Ledger } from "./Ledger";
import { SidePanels } from "./SidePanels";
import { TriggerActions } from "./TriggerActions";
import { useTrigger } from "./useTrigger";
import "./triggers.css";

/** One trigger: when it fires, what became of each planned moment, and what can be made up for. */
export function TriggerPage() {
  const { job, trigger: name } = triggerRoute.useParams();
  const ns = useNamespace() ?? "default";
  const { trigger, backfills } = useTrigger(ns, job, name);
  if (trigger.error && !trigger.data) {
    return (
      <div className="ms-page">
        <ErrorFace error={trigger.error} onRetry={() => void trigger.refetch()} />
      </div>
    );
  }
  if (!trigger.data) {
    return (
      <div className="ms-page" aria-busy="true">
        <Skeleton height={36} width="50%" />
        <Skeleton height={280} />
        <Skeleton height={200} />
      </div>
    );
  }
  return (
    <JobZone value={zoneOf(trigger.data)}>
      <Loaded trigger={trigger.data} backfills={backfills} />
    </JobZone>
  );
}

interface LoadedProps {
  trigger: JobTrigger;
  backfills: ReturnType<typeof useTrigger>["backfills"];
}

function Loaded({ trigger, backfills }: LoadedProps) {
  const { t, i18n } = useTranslation();
  const [brush, setBrush] = useState<Range>();
  const { namespace, job_name: job } = trigger;
  const words = inWords(trigger, i18n.language);
  const zone = zoneOf(trigger);
  const pause = trigger.pause ?? trigger.job_pause;
  return (
    <div className="ms-page">
      <Crumbs namespace={namespace} job={job} name={trigger.name} />
      <PageHeader
        title={
          <>
            {trigger.name} <TriggerBadge trigger={trigger} size="lg" />
          </>
        }
        note={words.includes(zone) ? words : `${words} · ${zone}`}
      >
        <TriggerActions trigger={trigger} brush={brush} onStarted={() => setBrush(undefined)} />
      </PageHeader>
      {pause && (
        <p className="ms-note">
          {trigger.pause
            ? t("triggers.paused_by", { by: pause.by })
            : t("triggers.job_paused_by", { by: pause.by })}{" "}
          <ZonedTime at={pause.at} />
          {pause.note && ` · ${pause.note}`}
        </p>
      )}
      {trigger.waits_for && <p className="ms-note">{t("triggers.waits_for", { job: trigger.waits_for })}</p>}
      {trigger.missing_jobs && trigger.missing_jobs.length > 0 && (
        <p className="ms-note">{t("triggers.missing_jobs", { jobs: trigger.missing_jobs.join(", ") })}</p>
      )}
      <NextFiring trigger={trigger} />
      <Ledger trigger={trigger} brush={brush} onBrush={setBrush}>
        <SidePanels trigger={trigger} backfills={backfills} />
      </Ledger>
    </div>
  );
}

function Crumbs({ namespace, job, name }: { namespace: string; job: string; name: string }) {
  const { t } = useTranslation();
  return (
    <nav className="ms-crumbs" aria-label={t("run.crumbs")}>
      {namespace.split("/").map((part, index, parts) => (
        <span key={parts.slice(0, index + 1).join("/")}>
          <Link to="/jobs" search={{ ns: parts.slice(0, index + 1).join("/") }}>
            {part}
          </Link>
          <span aria-hidden> / </span>
        </span>
      ))}
      <span>
        <Link to="/jobs/$job" params={{ job }} search={{ ns: namespace, tab: "triggers" }}>
          {job}
        </Link>
        <span aria-hidden> / </span>
      </span>
      <span>{name}</span>
    </nav>
  );
}
