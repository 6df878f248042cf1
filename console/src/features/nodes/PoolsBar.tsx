import { useTranslation } from "react-i18next";
import { ResourceBar } from "@/components/ui/ResourceBar";
import type { Pool } from "@/lib/api/schema";

/** Pools with how many of their slots are taken; a click shows the nodes of one. */
export function PoolsBar({
  pools,
  chosen,
  onChoose,
}: {
  pools: Pool[];
  chosen: string | undefined;
  onChoose: (pool: string | undefined) => void;
}) {
  const { t } = useTranslation();
  return (
    <div className="ms-pools">
      {pools.map((pool) => {
        const count = Object.values(pool.nodes).reduce((sum, nodes) => sum + nodes, 0);
        const isChosen = pool.name === chosen;
        return (
          <button
            type="button"
            key={pool.name}
            aria-pressed={isChosen}
            onClick={() => onChoose(isChosen ? undefined : pool.name)}
          >
            <strong>{pool.name}</strong>
            <span className="ms-muted">{t("nodes.count", { count })}</span>
            <ResourceBar
              label={t("nodes.col.slots")}
              share={pool.slots ? pool.running / pool.slots : undefined}
              text={`${pool.running}/${pool.slots}`}
            />
          </button>
        );
      })}
    </div>
  );
}
