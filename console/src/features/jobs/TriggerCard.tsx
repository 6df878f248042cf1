import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { useMay } from "@/app/session";
import { Firings } from "@/components/triggers/Firings";
import { NextFiring } from "@/components/triggers/NextFiring";
import { TriggerBadge } from "@/components/triggers/TriggerBadge";
import { inWords } from "@/components/triggers/triggers";
import type { JobTrigger } from "@/lib/api/schema";

/** A trigger in words: its state, when it fires, and the way to its page, where things are done with it. */
export function TriggerCard({ trigger }: { trigger: JobTrigger }) {
  const { t, i18n } = useTranslation();
  const mayDo = useMay();
  const [isOpen, setOpen] = useState(false);
  const { namespace, job_name: job, name } = trigger;
  const page = {
    to: "/jobs/$job/triggers/$trigger",
    params: { job, trigger: name },
  } as const;
  return (
    <section className="ms-panel" aria-label={name}>
      <div className="ms-trigger-head">
        <Link {...page} search={{ ns: namespace }}>
          <strong>{name}</strong>
        </Link>
        <TriggerBadge trigger={trigger} />
        <span>{inWords(trigger, i18n.language)}</span>
        <span className="ms-grow" />
        {trigger.next && (
          <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t("triggers.firings")}
          </Button>
        )}
        <LinkButton {...page} search={{ ns: namespace }}>
          {t("triggers.ledger")}
        </LinkButton>
        {mayDo("trigger.fire", namespace) && (
          <LinkButton {...page} search={{ ns: namespace, do: "fire" }}>
            {t("triggers.fire")}
          </LinkButton>
        )}
      </div>
      {trigger.pause && (
        <p className="ms-note">
          {t("triggers.paused_by", { by: trigger.pause.by })} {trigger.pause.note}
        </p>
      )}
      <NextFiring trigger={trigger} />
      <p className="ms-muted">
        {t("jobs.fired", { count: trigger.fired })}
        {trigger.waits_for && ` · ${t("triggers.waits_for", { job: trigger.waits_for })}`}
      </p>
      {isOpen && <Firings trigger={trigger} />}
    </section>
  );
}
