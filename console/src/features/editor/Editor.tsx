import { Button, Skeleton } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "@/app/session";
import { PageHeader } from "@/components/ui/PageHeader";
import { ApiError, call, newKey } from "@/lib/api/client";
import type { Job } from "@/lib/api/schema";
import { ConflictNote } from "./ConflictNote";
import { draftKey, keepDraft, readDraft } from "./draft";
import { ReviewDialog } from "./ReviewDialog";
import { SidePanel } from "./SidePanel";
import { useCheck } from "./useCheck";
import { nameIn } from "./yaml";

const YamlEditor = lazy(() => import("./YamlEditor"));

interface EditorProps {
  ns: string;
  base: string;
  /** The text of the current version, when the base is an older one. */
  current?: string;
  job: Job | undefined;
  children?: ReactNode;
}

/** The text of a job with the server's judgement beside it: review, then save; or a test run of the draft. */
export function Editor({ ns, base, current, job, children }: EditorProps) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const client = useQueryClient();
  const navigate = useNavigate();
  const key = draftKey(ns, job?.name, job?.revision);
  const [text, setText] = useState(() => readDraft(key) ?? base);
  const [resets, setResets] = useState(0);
  const [isReviewed, setReviewed] = useState(false);
  // After a conflict the person may choose to save over what another one saved.
  const [over, setOver] = useState<number>();
  const checked = useCheck(text, ns, job?.name, true);
  const fields = checked.kind === "bad" ? checked.fields : [];
  const lines = fields.flatMap((field) => field.line ?? []);

  const save = useMutation({
    mutationFn: (note: string) =>
      call("job_put", {
        path: { job: job?.name ?? nameIn(text) ?? "" },
        query: { namespace: ns, note, origin: "console" },
        yaml: text,
        ...(job ? { ifMatch: over ?? job.revision } : { ifNew: true }),
      }),
    onSuccess: async (saved) => {
      keepDraft(key, base, base);
      await client.invalidateQueries({ queryKey: ["job", saved.namespace, saved.name] });
      await navigate({ to: "/jobs/$job", params: { job: saved.name }, search: { ns: saved.namespace } });
    },
    onError: () => setReviewed(false),
  });
  const test = useMutation({
    mutationFn: async () => {
      if (checked.kind !== "good") throw new Error("unchecked");
      // Without triggers: the draft is not a job.
      const { triggers: _, ...spec } = checked.job.spec as Record<string, unknown>;
      return call("run_submit", { body: { spec: spec as never, namespace: ns }, idempotencyKey: newKey() });
    },
  });
  const isConflict = save.error instanceof ApiError && save.error.status === 412;
  const isDirty = text !== base;
  const change = (next: string) => {
    setText(next);
    keepDraft(key, next, base);
    save.reset();
  };
  const discard = () => {
    change(base);
    setResets(resets + 1);
  };
  const isGood = checked.kind === "good" && checked.text === text;
  return (
    <div className="ms-page" data-fixed>
      <PageHeader
        title={job ? t("editor.edit", { name: job.name }) : t("editor.new")}
        note={
          <>
            {job ? t("editor.based_on", { version: job.version }) : ns}
            {isDirty && ` · ${t("editor.draft")}`}
          </>
        }
      >
        {children}
        {isDirty && (
          <Button variant="subtle" onClick={discard}>
            {t("editor.discard")}
          </Button>
        )}
        {mayDo("run.submit_spec", ns) && (
          <Button disabled={!isGood} loading={test.isPending} onClick={() => test.mutate()}>
            {t("editor.test")}
          </Button>
        )}
        <Button
          variant="filled"
          disabled={!isGood || (job !== undefined && text === (current ?? base))}
          onClick={() => setReviewed(true)}
        >
          {t("editor.review")}
        </Button>
      </PageHeader>
      {isConflict && job && (
        <ConflictNote
          ns={ns}
          job={job}
          onOver={(revision) => {
            setOver(revision);
            save.reset();
            setReviewed(true);
          }}
        />
      )}
      <div className="ms-editor-split">
        <Suspense fallback={<Skeleton height="100%" />}>
          <YamlEditor
            label={t("editor.yaml")}
            text={text}
            resetKey={`${key} ${resets}`}
            readOnly={false}
            problems={lines}
            onChange={change}
          />
        </Suspense>
        <SidePanel checked={checked} test={test} saveError={isConflict ? undefined : save.error} />
      </div>
      {isReviewed && checked.kind === "good" && (
        <ReviewDialog
          checked={checked.job}
          isNew={!job}
          busy={save.isPending}
          onSave={(note) => save.mutate(note)}
          onClose={() => setReviewed(false)}
        />
      )}
    </div>
  );
}
