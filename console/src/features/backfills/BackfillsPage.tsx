import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useZone } from "@/app/preferences";
import { BACKFILL_STATES, backfillsRoute } from "@/app/router";
import { SectionTabs } from "@/app/SectionTabs";
import { useNamespace } from "@/app/useNamespace";
import { BackfillItem } from "@/components/triggers/BackfillItem";
import { isActive } from "@/components/triggers/backfills";
import { ErrorFace } from "@/components/ui/ErrorFace";
import { Face } from "@/components/ui/Face";
import { PageHeader } from "@/components/ui/PageHeader";
import { TableSkeleton } from "@/components/ui/TableSkeleton";
import { call } from "@/lib/api/client";

const BUSY_MS = 2000;
const REFRESH_MS = 10_000;
const LIMIT = 200;

/** All backfills that run or ran, the newest first. */
export function BackfillsPage() {
  const { t } = useTranslation();
  const zone = useZone();
  const ns = useNamespace();
  const navigate = useNavigate({ from: "/backfills" });
  const { state } = backfillsRoute.useSearch();
  const backfills = useQuery({
    queryKey: ["backfills", ns ?? "", state ?? ""],
    queryFn: ({ signal }) =>
      call("backfill_list_all", { query: { namespace: ns, state, limit: LIMIT }, signal }),
    refetchInterval: (query) => (query.state.data?.items.some(isActive) ? BUSY_MS : REFRESH_MS),
    placeholderData: keepPreviousData,
  });
  const choose = (next: typeof state) => void navigate({ search: (before) => ({ ...before, state: next }) });
  const { data } = backfills;
  return (
    <div className="ms-page">
      <SectionTabs />
      <PageHeader
        title={t("nav.backfills")}
        note={data && data.items.length > 0 && `${data.partial ? "≥ " : ""}${data.items.length}`}
      />
      <p className="ms-muted">{t("backfills.what")}</p>
      <fieldset className="ms-legend" aria-label={t("backfills.which")}>
        <button type="button" className="ms-chip" aria-pressed={!state} onClick={() => choose(undefined)}>
          {t("backfills.all")}
        </button>
        {BACKFILL_STATES.map((each) => (
          <button
            key={each}
            type="button"
            className="ms-chip"
            aria-pressed={state === each}
            onClick={() => choose(each)}
          >
            {t(`backfills.state.${each}`)}
          </button>
        ))}
      </fieldset>
      {backfills.isPending ? (
        <TableSkeleton />
      ) : !data ? (
        <ErrorFace error={backfills.error} onRetry={() => void backfills.refetch()} />
      ) : data.items.length === 0 ? (
        state ? (
          <Face kind="empty" title={t("backfills.no_match", { state: t(`backfills.state.${state}`) })}>
            <Button onClick={() => choose(undefined)}>{t("backfills.show_all")}</Button>
          </Face>
        ) : (
          <Face kind="empty" title={t("backfills.none")} text={t("backfills.none_text")}>
            <pre className="ms-code">mainspring backfill start JOB --from 2026-11-01T00:00:00Z --dry-run</pre>
          </Face>
        )
      ) : (
        <section className="ms-panel" aria-label={t("nav.backfills")} aria-busy={backfills.isPlaceholderData}>
          {data.items.map((backfill) => (
            <BackfillItem
              key={backfill.id}
              backfill={backfill}
              zone={zone}
              namespace={backfill.namespace}
              job={backfill.job_name}
              trigger={backfill.trigger}
            >
              <span className="ms-inline">
                <Link
                  to="/jobs/$job/triggers/$trigger"
                  params={{ job: backfill.job_name, trigger: backfill.trigger }}
                  search={{ ns: backfill.namespace }}
                >
                  {backfill.job_name} / {backfill.trigger}
                </Link>
              </span>
              <span className="ms-faint">{backfill.namespace}</span>
            </BackfillItem>
          ))}
          {data.partial && <p className="ms-muted">{t("backfills.partial")}</p>}
        </section>
      )}
    </div>
  );
}
