import { Textarea, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Problem } from "@/lib/api/schema";
import { type Draft, type Lists, toSpec, WEEKDAYS, wrongsOf } from "./calendar";

interface CalendarFieldsProps {
  draft: Draft;
  /** Only of a new one. */
  name: string | undefined;
  nameError: string | undefined;
  /** What the server found: `off[3]` is the fourth line of `off`. */
  problems: NonNullable<Problem["errors"]>;
  readOnly: boolean;
  onName: (name: string) => void;
  onChange: (draft: Draft) => void;
}

const LISTS = ["off", "working", "blackouts"] as const;

/** What a calendar says, a line for each entry; problems stand at their field. */
export function CalendarFields(props: CalendarFieldsProps) {
  const { t } = useTranslation();
  const { draft, name, problems, readOnly, onName, onChange } = props;
  const wrongs = wrongsOf(toSpec(draft));
  const messageOf = (path: string) => problems.find((problem) => problem.path === path)?.message;
  const problemOf = (list: Lists) => {
    const wrong = wrongs.find((each) => each.list === list);
    if (wrong)
      return `${t("calendars.line", { line: wrong.index + 1 })} ${t(`calendars.bad.${list}`, { text: wrong.text })}`;
    const found = problems.find(({ path }) => path === list || path.startsWith(`${list}[`));
    if (!found) return undefined;
    const line = /\[(\d+)\]/.exec(found.path)?.[1];
    return line === undefined
      ? found.message
      : `${t("calendars.line", { line: Number(line) + 1 })} ${found.message}`;
  };
  return (
    <section className="ms-panel ms-stack" aria-label={t("calendars.fields")}>
      {name !== undefined && (
        <TextInput
          label={t("calendars.name")}
          required
          value={name}
          error={messageOf("calendar") ?? props.nameError}
          data-autofocus
          onChange={(event) => onName(event.currentTarget.value)}
        />
      )}
      <TextInput
        label={t("calendars.description")}
        value={draft.description}
        maxLength={1000}
        readOnly={readOnly}
        error={messageOf("description")}
        onChange={(event) => onChange({ ...draft, description: event.currentTarget.value })}
      />
      <fieldset className="ms-weekdays">
        <legend>{t("calendars.weekend")}</legend>
        {WEEKDAYS.map((day) => {
          const isOff = draft.weekend.includes(day);
          return (
            <button
              key={day}
              type="button"
              className="ms-weekday"
              aria-pressed={isOff}
              disabled={readOnly}
              onClick={() =>
                onChange({
                  ...draft,
                  weekend: isOff ? draft.weekend.filter((each) => each !== day) : [...draft.weekend, day],
                })
              }
            >
              {t(`calendars.weekday.${day}`)}
            </button>
          );
        })}
      </fieldset>
      {LISTS.map((list) => (
        <Textarea
          key={list}
          label={t(`calendars.list.${list}`)}
          description={t(`calendars.hint.${list}`)}
          value={draft[list]}
          readOnly={readOnly}
          error={problemOf(list)}
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          classNames={{ input: "ms-mono" }}
          onChange={(event) => onChange({ ...draft, [list]: event.currentTarget.value })}
        />
      ))}
    </section>
  );
}
