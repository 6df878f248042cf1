import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { useMay } from "@/app/session";
import { RelativeTime } from "@/components/ui/Time";
import { capital } from "@/lib/state/words";
import { useDoctor } from "./useDoctor";

/** Whether the newest records of the audit form whole chains, as the doctor sees it. */
export function ChainNote() {
  const { t } = useTranslation();
  const mayDo = useMay();
  const doctor = useDoctor(mayDo("doctor"));
  if (!doctor.data) return null;
  const findings = doctor.data.findings.filter((finding) => finding.check === "audit");
  if (findings.length === 0) {
    return (
      <p className="ms-chain">
        <IconCircleCheck size={16} aria-hidden /> {t("admin.audit.whole")}{" "}
        <RelativeTime at={doctor.data.at} />
      </p>
    );
  }
  return findings.map((finding) => (
    <p className="ms-chain" data-broken key={finding.message} role="alert">
      <IconAlertTriangle size={16} aria-hidden /> {capital(finding.message)}. {capital(finding.remedy)}.
    </p>
  ));
}
