import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { LinkButton } from "@/app/LinkButton";
import { usePageCommands } from "@/app/pageCommands";
import { useMay } from "@/app/session";
import { CopyAs } from "@/components/ui/Copy";
import { PageHeader } from "@/components/ui/PageHeader";
import { RelativeTime } from "@/components/ui/Time";
import { ApiError, call } from "@/lib/api/client";
import { explain } from "@/lib/api/problem";
import type { Calendar } from "@/lib/api/schema";
import { apiCommand, cli } from "@/lib/commands";
import { CalendarFields } from "./CalendarFields";
import { ConflictNote } from "./ConflictNote";
import { toDraft, toggled, toSpec, wrongsOf } from "./calendar";
import { DeleteDialog } from "./DeleteDialog";
import { Heeding } from "./Heeding";
import { calendarKey } from "./useCalendars";
import { YearPicture } from "./YearPicture";
import "./calendars.css";

interface CalendarEditorProps {
  ns: string;
  /** Nothing when it is a new one. */
  calendar: Calendar | undefined;
}

/** A calendar as fields and as a picture of its year. What is typed stays until it is saved or discarded. */
export function CalendarEditor({ ns, calendar }: CalendarEditorProps) {
  const { t } = useTranslation();
  const mayDo = useMay();
  const client = useQueryClient();
  const navigate = useNavigate();
  // What the person began with; the server may have a newer one meanwhile.
  const [base, setBase] = useState(calendar);
  const [draft, setDraft] = useState(() =>
    toDraft(calendar?.spec ?? { weekend: ["sat", "sun"], description: "" }),
  );
  const [name, setName] = useState(calendar?.name ?? "");
  const [isDeleting, setDeleting] = useState(false);
  const mayPut = mayDo("calendar.put", ns);
  const spec = toSpec(draft);
  const isDirty = !base || JSON.stringify(toSpec(toDraft(base.spec))) !== JSON.stringify(spec);
  const save = useMutation({
    mutationFn: (revision: number | undefined) =>
      call("calendar_put", {
        path: { calendar: name.trim() },
        query: { namespace: ns },
        body: spec,
        ...(revision === undefined ? { ifNew: true } : { ifMatch: revision }),
      }),
    onSuccess: async (saved) => {
      setBase(saved);
      setDraft(toDraft(saved.spec));
      client.setQueryData(calendarKey(saved.namespace, saved.name), saved);
      await client.invalidateQueries({ queryKey: ["calendars"] });
      if (!calendar) {
        await navigate({
          to: "/calendars/$calendar",
          params: { calendar: saved.name },
          search: { ns: saved.namespace },
        });
      }
    },
  });
  const change = (next: typeof draft) => {
    setDraft(next);
    if (save.error) save.reset();
  };
  const isConflict = base !== undefined && save.error instanceof ApiError && save.error.status === 412;
  const isTaken = !base && save.error instanceof ApiError && save.error.status === 412;
  const fields = save.error instanceof ApiError ? save.error.fields : [];
  const told =
    save.error && !isConflict && !isTaken && fields.length === 0 ? explain(save.error, t) : undefined;
  // Somebody else saved while nothing was typed here: theirs is shown.
  if (base && calendar && calendar.revision > base.revision && !isDirty) {
    setBase(calendar);
    setDraft(toDraft(calendar.spec));
  }
  const where = ns === "default" ? [] : ["-n", ns];
  const canDelete = base && mayDo("calendar.delete", ns);
  usePageCommands([
    canDelete && { label: t("calendars.delete"), alias: "delete calendar", run: () => setDeleting(true) },
  ]);
  return (
    <div className="ms-page">
      <nav className="ms-crumbs" aria-label={t("run.crumbs")}>
        <span>
          <Link to="/calendars" search={{ ns }}>
            {t("nav.calendars")}
          </Link>
          <span aria-hidden> / </span>
        </span>
        <span>{base ? `${ns} / ${base.name}` : ns}</span>
      </nav>
      <PageHeader
        title={base ? base.name : t("calendars.new")}
        note={
          base && (
            <>
              {t("calendars.updated_by", { by: base.updated_by })} <RelativeTime at={base.updated_at} />
            </>
          )
        }
      >
        {mayPut && isDirty && base && (
          <Button variant="subtle" onClick={() => change(toDraft(base.spec))}>
            {t("calendars.discard")}
          </Button>
        )}
        {!base && (
          <LinkButton to="/calendars" search={{ ns }}>
            {t("calendars.cancel")}
          </LinkButton>
        )}
        {canDelete && <Button onClick={() => setDeleting(true)}>{t("calendars.delete")}</Button>}
        {base && (
          <CopyAs
            items={[
              { label: t("runs.copy_cli"), text: cli("calendar", "get", ...where, base.name) },
              {
                label: t("runs.copy_http"),
                text: apiCommand("calendar_put", { calendar: base.name }, { namespace: ns }, spec),
              },
            ]}
          />
        )}
        {mayPut && (
          <Button
            variant="filled"
            disabled={!isDirty || wrongsOf(spec).length > 0 || name.trim() === ""}
            loading={save.isPending}
            onClick={() => save.mutate(base?.revision)}
          >
            {t("calendars.save")}
          </Button>
        )}
      </PageHeader>
      {isConflict && base && (
        <ConflictNote
          calendar={base}
          mine={spec}
          onTheirs={(theirs) => {
            setBase(theirs);
            change(toDraft(theirs.spec));
          }}
          onOver={(theirs) => {
            setBase(theirs);
            save.mutate(theirs.revision);
          }}
        />
      )}
      {told && (
        <p className="ms-error" role="alert">
          {told.title} {told.text} <span className="ms-faint">{told.note}</span>
        </p>
      )}
      <div className="ms-calendar-split">
        <CalendarFields
          draft={draft}
          name={base ? undefined : name}
          nameError={isTaken ? t("calendars.taken") : undefined}
          problems={fields}
          readOnly={!mayPut}
          onName={(next) => {
            setName(next);
            if (save.error) save.reset();
          }}
          onChange={change}
        />
        <div className="ms-stack">
          <YearPicture spec={spec} onToggle={mayPut ? (day) => change(toggled(draft, day)) : undefined} />
          {base && <Heeding calendar={base} />}
        </div>
      </div>
      {isDeleting && base && <DeleteDialog calendar={base} onClose={() => setDeleting(false)} />}
    </div>
  );
}
