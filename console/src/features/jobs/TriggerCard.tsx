import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "@/app/session";
import { toneStyle } from "@/components/ui/StateBadge";
import { call } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import type { JobTrigger } from "@/lib/api/schema";
import { Firings } from "./Firings";
import { NextFiring } from "./NextFiring";
import { TRIGGER_TONES, triggerFace } from "./triggers";
import { jobKey } from "./useJob";

/** A trigger in words: its state, when it fires, and what can be done with it. */
export function TriggerCard({ trigger }: { trigger: JobTrigger }) {
  const { t, i18n } = useTranslation();
  const mayDo = useMay();
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const face = triggerFace(trigger);
  const { namespace, job_name: job, name } = trigger;
  const request = { path: { job, trigger: name }, query: { namespace } };
  const onSettled = () => client.invalidateQueries({ queryKey: jobKey(namespace, job) });
  const toggle = useMutation({
    mutationFn: () => call(trigger.pause ? "trigger_resume" : "trigger_pause", { ...request, body: {} }),
    onSettled,
  });
  const fire = useMutation({ mutationFn: () => call("trigger_fire", request), onSettled });
  const error = toggle.error ?? fire.error;
  const told = error ? explain(error, t) : undefined;
  return (
    <section className="ms-panel">
      <div className="ms-trigger-head">
        <strong>{name}</strong>
        <span className="ms-badge" style={toneStyle(TRIGGER_TONES[face])}>
          {t(`jobs.trigger.${face}`)}
        </span>
        <span>{i18n.language === "zh" ? trigger.description.zh : trigger.description.en}</span>
        <span className="ms-grow" />
        {trigger.next && (
          <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t("jobs.firings")}
          </Button>
        )}
        {mayDo("trigger.fire", namespace) && (
          <Button loading={fire.isPending} onClick={() => fire.mutate()}>
            {t("jobs.fire")}
          </Button>
        )}
        {mayDo(trigger.pause ? "trigger.resume" : "trigger.pause", namespace) && (
          <Button loading={toggle.isPending} onClick={() => toggle.mutate()}>
            {trigger.pause ? t("jobs.resume_trigger") : t("jobs.pause_trigger")}
          </Button>
        )}
      </div>
      {told && (
        <p className="ms-error" role="alert">
          {told.title} {told.text}
        </p>
      )}
      {fire.data && (
        <p role="status">
          {t("jobs.fired_run")}{" "}
          <Link to="/runs/$run" params={{ run: fire.data.id }} search={(before) => ({ ns: before.ns })}>
            …{fire.data.id.slice(-6)}
          </Link>
        </p>
      )}
      {trigger.pause && (
        <p className="ms-note">
          {t("jobs.paused_by", { by: trigger.pause.by })} {trigger.pause.note}
        </p>
      )}
      <NextFiring trigger={trigger} />
      <p className="ms-muted">
        {t("jobs.fired", { count: trigger.fired })}
        {trigger.waits_for && ` · ${t("jobs.waits_for", { job: trigger.waits_for })}`}
      </p>
      {isOpen && <Firings trigger={trigger} />}
    </section>
  );
}
