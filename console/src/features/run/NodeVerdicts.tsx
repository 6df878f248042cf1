import { Link } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import { ResourceBar } from "@/components/ui/ResourceBar";
import type { NodeVerdict } from "@/lib/api/schema";
import { bytes, cores } from "@/lib/size";

const SHOWN = 5;

/** What the nodes lack that are nearest to taking the run: what is asked for against what each has. */
export function NodeVerdicts({ verdicts }: { verdicts: NodeVerdict[] }) {
  const { t } = useTranslation();
  if (verdicts.length === 0) return null;
  return (
    <div className="ms-verdicts">
      <p className="ms-muted">{t("run.verdict.title", { count: verdicts.length })}</p>
      <VerdictRows verdicts={verdicts.slice(0, SHOWN)} />
      {verdicts.length > SHOWN && (
        <details>
          <summary>{t("run.verdict.more", { count: verdicts.length - SHOWN })}</summary>
          <VerdictRows verdicts={verdicts.slice(SHOWN)} />
        </details>
      )}
    </div>
  );
}

function VerdictRows({ verdicts }: { verdicts: NodeVerdict[] }) {
  const { t } = useTranslation();
  return (
    <ul>
      {verdicts.map((verdict) => (
        <li key={verdict.id}>
          <Link to="/nodes" search={{ q: verdict.name }}>
            {verdict.name}
          </Link>
          <span>{lackWords(verdict, t)}</span>
          <Amounts verdict={verdict} />
        </li>
      ))}
    </ul>
  );
}

function Amounts({ verdict: { amount } }: { verdict: NodeVerdict }) {
  const { t } = useTranslation();
  if (!amount) return null;
  const { dimension, wanted, has } = amount;
  const show = (value: number) => {
    if (dimension === "memory") return bytes(value);
    return dimension === "slots" ? String(value) : cores(value / 1000);
  };
  const text = t("run.verdict.amount", { has: show(has), wanted: show(wanted), dimension });
  return <ResourceBar share={wanted === 0 ? 1 : has / wanted} text={text} label={dimension} />;
}

function lackWords(verdict: NodeVerdict, t: TFunction): string {
  if (verdict.lacks === "available") return t(`run.verdict.away.${verdict.away ?? "silent"}`);
  return t(`run.verdict.lacks.${verdict.lacks}`, { wanted: verdict.wanted ?? "", has: verdict.has ?? "" });
}
