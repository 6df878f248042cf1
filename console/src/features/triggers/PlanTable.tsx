import { Skeleton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { toneStyle } from "@/components/ui/StateBadge";
import type { BackfillAction, BackfillPlan } from "@/lib/api/schema";
import type { Tone } from "@/lib/state/tone";
import { absolute, millis } from "@/lib/time/format";

const TONES: Record<BackfillAction, Tone> = { run: "running", again: "failed", leave: "skipped" };
const ACTIONS = ["run", "again", "leave"] as const;
const SHOWN = 200;

interface PlanTableProps {
  plan: BackfillPlan | undefined;
  zone: string;
  isStale: boolean;
}

/** What the backfill would do with each moment: counts, then the moments. */
export function PlanTable({ plan, zone, isStale }: PlanTableProps) {
  const { t } = useTranslation();
  if (!plan) return <Skeleton height={160} />;
  const rows = plan.moments.slice(0, SHOWN);
  return (
    <section className="ms-plan" aria-label={t("triggers.plan")} data-dimmed={isStale || undefined}>
      <p className="ms-plan-sum">
        {ACTIONS.map((action) => (
          <span key={action}>
            <span className="ms-badge" style={toneStyle(TONES[action])}>
              {t(`triggers.action.${action}`)}
            </span>{" "}
            {plan.truncated && "≥ "}
            {plan.moments.filter((moment) => moment.action === action).length}
          </span>
        ))}
        <span className="ms-grow" />
        <span className="ms-muted">{t("triggers.moments", { count: plan.total })}</span>
      </p>
      <section className="ms-plan-rows" tabIndex={0} aria-label={t("triggers.moment_list")}>
        <table className="ms-compare">
          <thead>
            <tr>
              <th>
                {t("triggers.col.planned")} ({zone})
              </th>
              <th>{t("triggers.col.action")}</th>
              <th>{t("triggers.col.had_run")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((moment) => (
              <tr key={moment.planned}>
                <td>{absolute(millis(moment.planned) ?? 0, zone)}</td>
                <td>
                  <span className="ms-badge" style={toneStyle(TONES[moment.action])}>
                    {t(`triggers.action.${moment.action}`)}
                  </span>
                </td>
                <td>
                  {moment.run ? (
                    <Link
                      to="/runs/$run"
                      params={{ run: moment.run }}
                      search={(before) => ({ ns: before.ns })}
                    >
                      …{moment.run.slice(-6)}
                    </Link>
                  ) : (
                    "–"
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {plan.total > rows.length && (
          <p className="ms-muted">{t("triggers.more_moments", { count: plan.total - rows.length })}</p>
        )}
      </section>
    </section>
  );
}
