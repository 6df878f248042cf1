import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useMay } from "@/app/session";
import { ResourceBar } from "@/components/ui/ResourceBar";
import { RelativeTime } from "@/components/ui/Time";
import { call } from "@/lib/api/client";
import type { Queue } from "@/lib/api/schema";

const FAST_MS = 2000;
const SHOWN = 5;

interface Waiting {
  kind: string;
  message: string;
  message_zh: string | undefined;
  count: number;
  oldest: string;
}

/** What waits by reason, the most first, with the oldest. */
export function byReason(queue: Queue): Waiting[] {
  const reasons = new Map<string, Waiting>();
  for (const { reason, count, oldest } of queue.items) {
    const known = reasons.get(reason.kind);
    const { kind, message, message_zh } = reason;
    if (!known) reasons.set(kind, { kind, message, message_zh, count, oldest });
    else {
      known.count += count;
      if (oldest < known.oldest) known.oldest = oldest;
    }
  }
  return [...reasons.values()].sort((a, b) => b.count - a.count);
}

/** The queue by reason and how full the pools are. */
export function Saturation({ ns }: { ns: string | undefined }) {
  const { t, i18n } = useTranslation();
  const mayDo = useMay();
  const queue = useQuery({
    queryKey: ["queue", ns ?? ""],
    queryFn: ({ signal }) => call("queue", { query: { namespace: ns }, signal }),
    refetchInterval: FAST_MS,
  });
  const pools = useQuery({
    queryKey: ["pools"],
    queryFn: ({ signal }) => call("pool_list", { signal }),
    refetchInterval: FAST_MS,
    enabled: mayDo("pool.list"),
  });
  const number = new Intl.NumberFormat(i18n.language);
  const reasons = queue.data ? byReason(queue.data) : [];
  return (
    <div className="ms-overview-charts">
      <section className="ms-panel" aria-label={t("overview.queue")}>
        <h2>
          <Link to="/queue" search={{ ns }}>
            {t("overview.queue")}
          </Link>
        </h2>
        {queue.data && reasons.length === 0 && <p className="ms-muted">{t("overview.queue_empty")}</p>}
        <ul className="ms-next">
          {reasons.slice(0, SHOWN).map((waiting) => (
            <li key={waiting.kind}>
              <Link to="/queue" search={{ ns, reason: waiting.kind }}>
                {number.format(waiting.count)}
              </Link>
              <span>
                {(i18n.language === "zh" && waiting.message_zh) || waiting.message}{" "}
                <code className="ms-faint">{waiting.kind}</code>
              </span>
              <span className="ms-muted">
                {t("overview.oldest")} <RelativeTime at={waiting.oldest} />
              </span>
            </li>
          ))}
        </ul>
      </section>
      {pools.data && (
        <section className="ms-panel" aria-label={t("overview.pools")}>
          <h2>{t("overview.pools")}</h2>
          {pools.data.items.length === 0 && <p className="ms-muted">{t("overview.no_pools")}</p>}
          <ul className="ms-next">
            {pools.data.items.slice(0, SHOWN).map((pool) => (
              <li key={pool.name}>
                <Link to="/nodes" search={{ pool: pool.name }}>
                  {pool.name}
                </Link>
                <ResourceBar
                  label={t("overview.slots")}
                  share={pool.slots ? pool.running / pool.slots : undefined}
                  text={`${number.format(pool.running)}/${number.format(pool.slots)}`}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
