import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { DiffView } from "@/components/ui/DiffView";
import { call } from "@/lib/api/client";
import type { Calendar, CalendarSpec, Change } from "@/lib/api/schema";
import { toDraft, toSpec } from "./calendar";

interface ConflictNoteProps {
  /** What the person began with. */
  calendar: Calendar;
  mine: Required<CalendarSpec>;
  onTheirs: (theirs: Calendar) => void;
  onOver: (theirs: Calendar) => void;
}

/** Somebody else saved meanwhile: how theirs differs from what is typed here, and a choice. What is typed is kept. */
export function ConflictNote({ calendar, mine, onTheirs, onOver }: ConflictNoteProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const { name, namespace, revision } = calendar;
  const theirs = useQuery({
    queryKey: ["calendar-theirs", namespace, name, revision],
    queryFn: ({ signal }) => call("calendar_get", { path: { calendar: name }, query: { namespace }, signal }),
    gcTime: 0,
  });
  const { data } = theirs;
  return (
    <div className="ms-note ms-conflict" role="alert">
      <p>{data ? t("calendars.conflict", { by: data.updated_by }) : t("calendars.conflict_other")}</p>
      {data && isOpen && (
        <DiffView changes={changesOf(toSpec(toDraft(data.spec)), mine)} none={t("calendars.no_changes")} />
      )}
      {data && (
        <div className="ms-buttons">
          <Button onClick={() => setOpen(!isOpen)}>{t("calendars.compare")}</Button>
          <Button onClick={() => onTheirs(data)}>{t("calendars.take_theirs")}</Button>
          <Button onClick={() => onOver(data)}>{t("calendars.save_mine")}</Button>
        </div>
      )}
    </div>
  );
}

/** From theirs to mine. */
function changesOf(before: Required<CalendarSpec>, after: Required<CalendarSpec>): Change[] {
  const keys = ["description", "weekend", "off", "working", "blackouts"] as const;
  return keys
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => ({ path: key, before: before[key], after: after[key] }) as Change);
}
