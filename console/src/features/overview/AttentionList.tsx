import {
  IconAlertOctagon,
  IconAlertTriangle,
  IconCircleCheck,
  IconClockExclamation,
  IconServerOff,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { RelativeTime } from "@/components/ui/Time";
import type { Finding, StatsTotals } from "@/lib/api/schema";
import { inLanguage } from "@/lib/state/words";
import type { Problem } from "./attention";

const SHOWN_MAX = 10;
const ICONS = {
  job: IconAlertOctagon,
  trigger: IconAlertOctagon,
  node: IconServerOff,
  missed: IconClockExclamation,
  late: IconClockExclamation,
  finding: IconAlertTriangle,
} as const;

interface AttentionListProps {
  problems: Problem[];
  ended: StatsTotals | undefined;
  window: string;
}

/** Problems first; when there are none, a calm sentence with the number that shows it. */
export function AttentionList({ problems, ended, window }: AttentionListProps) {
  const { t, i18n } = useTranslation();
  if (problems.length === 0) {
    const count = ended ? ended.success + ended.final_failed + ended.cancelled + ended.skipped : 0;
    return (
      <p className="ms-quiet">
        <IconCircleCheck size={18} aria-hidden />{" "}
        {t("overview.quiet", { count, text: new Intl.NumberFormat(i18n.language).format(count), window })}
      </p>
    );
  }
  return (
    <ul className="ms-attention">
      {problems.slice(0, SHOWN_MAX).map((problem) => {
        const Icon = ICONS[problem.kind];
        return (
          <li
            key={`${problem.kind} ${JSON.stringify(problem)}`}
            data-kind={problem.kind}
            data-mild={problem.weight < 50 || undefined}
          >
            <Icon size={16} aria-hidden />
            <Row problem={problem} />
          </li>
        );
      })}
      {problems.length > SHOWN_MAX && (
        <li className="ms-muted">{t("overview.more", { count: problems.length - SHOWN_MAX })}</li>
      )}
    </ul>
  );
}

function Row({ problem }: { problem: Problem }) {
  const { t } = useTranslation();
  switch (problem.kind) {
    case "job":
      return (
        <>
          <Link to="/jobs/$job" params={{ job: problem.name }} search={{ ns: problem.namespace }}>
            {problem.name}
          </Link>
          <span>{t("overview.job_failed", { failed: problem.failed, count: problem.ended })}</span>
          <Link to="/runs" search={{ q: `job:${problem.name} state:final_failed`, ns: problem.namespace }}>
            {t("overview.show_runs")}
          </Link>
        </>
      );
    case "trigger":
      return (
        <>
          <Link
            to="/jobs/$job"
            params={{ job: problem.job }}
            search={{ ns: problem.namespace, tab: "triggers" }}
          >
            {problem.job} / {problem.trigger}
          </Link>
          <span>
            {t("overview.trigger_paused")} {problem.note}
          </span>
        </>
      );
    case "node":
      return (
        <>
          <Link to="/nodes" search={{ q: problem.name }}>
            {problem.name}
          </Link>
          <span>
            {t(`overview.node_${problem.face}`, { count: problem.running })}{" "}
            <RelativeTime at={problem.seen} />
          </span>
        </>
      );
    case "missed":
      return (
        <>
          <Link
            to="/jobs/$job/triggers/$trigger"
            params={{ job: problem.job, trigger: problem.trigger }}
            search={{ ns: problem.namespace, outcome: "missed" }}
          >
            {problem.job} / {problem.trigger}
          </Link>
          <span>
            {t("overview.missed")} <RelativeTime at={problem.planned} /> {problem.reason}
          </span>
        </>
      );
    case "late":
      return <span>{t("overview.late", { count: problem.count })}</span>;
    case "finding":
      return <FindingRow finding={problem.finding} />;
  }
}

function FindingRow({ finding }: { finding: Finding }) {
  const { t, i18n } = useTranslation();
  const { message, message_zh, remedy, remedy_zh } = finding;
  return (
    <>
      <SubjectLink finding={finding} />
      <span title={inLanguage({ message: remedy, message_zh: remedy_zh ?? "" }, i18n.language)}>
        {inLanguage({ message, message_zh: message_zh ?? "" }, i18n.language)} <code>{finding.check}</code>
      </span>
      {finding.since && (
        <span className="ms-muted">
          {t("overview.since")} <RelativeTime at={finding.since} />
        </span>
      )}
    </>
  );
}

/** A link to what the finding is about. */
function SubjectLink({ finding: { subject, remedy } }: { finding: Finding }) {
  const { t } = useTranslation();
  // Where several runs wait for the same, the remedy names one of them.
  const run = subject?.kind === "run" ? subject.name : /run_[0-9a-z]{26}/.exec(remedy)?.[0];
  if (run) {
    return (
      <Link to="/runs/$run" params={{ run }} search={(before) => ({ ns: before.ns })}>
        {t("overview.finding")}
      </Link>
    );
  }
  switch (subject?.kind) {
    case "node":
      return (
        <Link to="/nodes" search={{ q: subject.name }}>
          {subject.name}
        </Link>
      );
    case "pool":
      return (
        <Link to="/nodes" search={{ pool: subject.name }}>
          {subject.name}
        </Link>
      );
    case "job":
      return (
        <Link to="/jobs/$job" params={{ job: subject.name }} search={{ ns: subject.namespace ?? undefined }}>
          {subject.name}
        </Link>
      );
    default:
      return <strong>{t("overview.finding")}</strong>;
  }
}
