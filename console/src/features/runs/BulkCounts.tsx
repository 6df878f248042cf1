import { useTranslation } from "react-i18next";
import { StateBadge } from "@/components/ui/StateBadge";
import type { RunCounts } from "@/lib/api/schema";
import { STATE_NAMES } from "@/lib/state/run";

const NAMESPACES_SHOWN = 5;
const SAMPLE_SHOWN = 5;

/** What an action would be done to: by state, by namespace, and a few of the runs. */
export function BulkCounts({ counts, sample }: { counts: RunCounts; sample: string[] }) {
  const { t, i18n } = useTranslation();
  const format = new Intl.NumberFormat(i18n.language);
  const states = STATE_NAMES.filter((state) => counts.states[state]);
  const places = counts.namespaces.slice(0, NAMESPACES_SHOWN);
  const rest = counts.namespaces.length - places.length;
  return (
    <div className="ms-stack">
      <ul className="ms-inline-list" aria-label={t("runs.bulk.by_state")}>
        {states.map((state) => (
          <li key={state}>
            <StateBadge kind="run" state={state} /> {format.format(counts.states[state] ?? 0)}
          </li>
        ))}
      </ul>
      <ul className="ms-inline-list" aria-label={t("runs.bulk.by_namespace")}>
        {places.map(({ namespace, count }) => (
          <li key={namespace}>
            <code>{namespace}</code> {format.format(count)}
          </li>
        ))}
        {rest > 0 && <li className="ms-muted">{t("runs.bulk.more_namespaces", { count: rest })}</li>}
      </ul>
      {sample.length > 0 && (
        <p className="ms-muted">
          {t("runs.bulk.sample")}{" "}
          {sample
            .slice(0, SAMPLE_SHOWN)
            .map((id) => `…${id.slice(-6)}`)
            .join(", ")}
        </p>
      )}
    </div>
  );
}
