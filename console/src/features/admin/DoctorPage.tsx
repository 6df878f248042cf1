import { Button } from "@mantine/core";
import { IconAlertOctagon, IconAlertTriangle, IconCircleCheck, IconInfoCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { usePageCommands } from "@/app/pageCommands";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { ExportMenu } from "@/components/ui/ExportMenu";
import { fieldsNamed } from "@/components/ui/exports";
import { PageHeader } from "@/components/ui/PageHeader";
import { toneStyle } from "@/components/ui/StateBadge";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { RelativeTime } from "@/components/ui/Time";
import type { Finding, Severity } from "@/lib/api/schema";
import type { Tone } from "@/lib/state/tone";
import { findingWords } from "@/lib/state/words";
import { placeOf } from "./findings";
import { useDoctor } from "./useDoctor";
import "./admin.css";

const FACES: Record<Severity, { tone: Tone; icon: typeof IconInfoCircle }> = {
  failure: { tone: "final_failed", icon: IconAlertOctagon },
  warning: { tone: "failed", icon: IconAlertTriangle },
  note: { tone: "ready", icon: IconInfoCircle },
};

const EXPORT = fieldsNamed<Finding>("severity", "check", "message", "remedy");

/** What is wrong or odd in the cluster, what to do about it, and where. */
export function DoctorPage() {
  const { t } = useTranslation();
  const doctor = useDoctor();
  const { data } = doctor;
  const look = () => void doctor.refetch();
  usePageCommands([{ label: t("admin.doctor.again"), alias: "look again doctor", run: look }]);
  return (
    <div className="ms-page">
      <PageHeader
        title={t("nav.doctor")}
        note={
          data && (
            <>
              {t("admin.doctor.looked")} <RelativeTime at={data.at} />
            </>
          )
        }
      >
        {data && data.findings.length > 0 && (
          <ExportMenu name="doctor" rows={data.findings} fields={EXPORT} />
        )}
        <Button variant="filled" loading={doctor.isFetching} onClick={look}>
          {t("admin.doctor.again")}
        </Button>
      </PageHeader>
      {doctor.isPending ? (
        <TableSkeleton />
      ) : !data ? (
        <ErrorFace error={doctor.error} onRetry={look} />
      ) : (
        <>
          {doctor.error && <ErrorFace error={doctor.error} onRetry={look} />}
          {data.findings.length === 0 && (
            <p className="ms-panel ms-healthy">
              <IconCircleCheck size={20} aria-hidden /> {t("admin.doctor.healthy")}
            </p>
          )}
          <ul className="ms-findings">
            {data.findings.map((finding) => (
              <Item key={`${finding.check} ${finding.message}`} finding={finding} />
            ))}
          </ul>
          <p className="ms-muted">
            {t("admin.doctor.checked")}{" "}
            {data.checked.map((check) => (
              <code key={check} className="ms-checked">
                {check}
              </code>
            ))}
          </p>
        </>
      )}
    </div>
  );
}

function Item({ finding }: { finding: Finding }) {
  const { t, i18n } = useTranslation();
  const { tone, icon: Icon } = FACES[finding.severity];
  const words = findingWords(finding, i18n.language);
  const place = placeOf(finding);
  return (
    <li className="ms-panel ms-finding">
      <span className="ms-badge" style={toneStyle(tone)}>
        <Icon size={14} aria-hidden /> {t(`admin.severity.${finding.severity}`)}
      </span>
      <div>
        <p>
          <strong>{words.message}</strong> <code>{finding.check}</code>
        </p>
        <p className="ms-muted">{words.remedy}</p>
      </div>
      {place && (
        <Link to={place.to} params={place.params ?? {}} search={place.search ?? {}}>
          {t(`admin.doctor.open_${place.name}`)}
        </Link>
      )}
    </li>
  );
}
