import { useTranslation } from "react-i18next";
import { ResourceBar } from "@/components/ui/ResourceBar";
import type { Pool } from "@/lib/api/schema";
import { toBytes, toCores } from "@/lib/size";

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
            <PoolShare label={t("nodes.col.cpu")} {...cpuOf(pool)} />
            <PoolShare label={t("nodes.col.memory")} {...memoryOf(pool)} />
          </button>
        );
      })}
    </div>
  );
}

interface Shares {
  share: number | undefined;
  used: number | undefined;
}

const of = (amount: number, all: number | undefined) => (all ? amount / all : undefined);

function cpuOf(pool: Pool): Shares {
  const all = toCores(pool.capacity.cpu);
  return {
    share: of(toCores(pool.reserved?.cpu) ?? 0, all),
    used: of((pool.cpu_used_milli ?? 0) / 1000, all),
  };
}

function memoryOf(pool: Pool): Shares {
  const all = toBytes(pool.capacity.memory);
  return { share: of(toBytes(pool.reserved?.memory) ?? 0, all), used: of(pool.memory_used_bytes ?? 0, all) };
}

function PoolShare({ label, share, used }: Shares & { label: string }) {
  const percent = share === undefined ? "–" : `${Math.round(share * 100)} %`;
  return <ResourceBar label={label} share={share} used={used} text={`${label} ${percent}`} />;
}
