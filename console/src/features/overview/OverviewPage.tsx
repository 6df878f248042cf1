import { SegmentedControl, Skeleton } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { overviewRoute } from "@/app/router";
import { useNamespace } from "@/app/useNamespace";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { AttentionList } from "./AttentionList";
import { EndedChart } from "./EndedChart";
import { Figures } from "./Figures";
import { NextFirings } from "./NextFirings";
import { Saturation } from "./Saturation";
import { useOverview, WINDOWS, type WindowName } from "./useOverview";
import "./overview.css";

export function OverviewPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: "/" });
  const ns = useNamespace();
  const window: WindowName = overviewRoute.useSearch().window ?? "24h";
  const { series, jobs, triggers, nodes, cluster, today, problems, steps } = useOverview(ns, window);
  const total = series.data?.total;
  const isEmpty = jobs.data?.items.length === 0 && total?.attempts === 0;
  return (
    <div className="ms-page">
      <PageHeader title={t("nav.overview")}>
        <SegmentedControl
          aria-label={t("overview.window")}
          value={window}
          data={Object.keys(WINDOWS)}
          onChange={(value) =>
            void navigate({
              search: (before) => ({ ...before, window: value === "24h" ? undefined : (value as "1h") }),
            })
          }
        />
      </PageHeader>
      {isEmpty && (
        <section className="ms-panel">
          <Face kind="empty" title={t("overview.empty")} text={t("overview.empty_text")}>
            <pre className="ms-code">
              {
                "mainspring submit --wait -- echo hello\nmainspring submit nightly.sh\nmainspring apply job.yaml"
              }
            </pre>
          </Face>
        </section>
      )}
      <section className="ms-panel" aria-label={t("overview.attention")}>
        <h2>
          {t("overview.attention")} {problems.length > 0 && problems.length}
        </h2>
        {series.isPending ? (
          <Skeleton height={44} />
        ) : (
          <AttentionList problems={problems} ended={total} window={window} />
        )}
      </section>
      {series.error && !series.data ? (
        <ErrorFace error={series.error} onRetry={() => void series.refetch()} />
      ) : (
        <Figures
          total={total}
          today={today.data}
          cells={cluster.data?.cells}
          nodes={nodes.data?.items}
          window={window}
          ns={ns}
        />
      )}
      {!isEmpty && <Saturation ns={ns} />}
      <div className="ms-overview-charts">
        <EndedChart steps={steps} ns={ns} isPartial={series.data?.partial ?? false} />
        <NextFirings triggers={triggers.data?.items ?? []} />
      </div>
    </div>
  );
}
