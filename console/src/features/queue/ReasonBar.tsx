import { useTranslation } from "react-i18next";
import { isKnown, type QueueGroup } from "./queue";

interface ReasonBarProps {
  groups: QueueGroup[];
  chosen: string | undefined;
  onChoose: (kind: string | undefined) => void;
}

/** How many wait for each reason, as a bar of words; each is a filter. */
export function ReasonBar({ groups, chosen, onChoose }: ReasonBarProps) {
  const { t, i18n } = useTranslation();
  const most = Math.max(1, ...groups.map((group) => group.count));
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <fieldset className="ms-reasons" aria-label={t("queue.by.reason")}>
      {groups.map((group) => (
        <button
          key={group.key}
          type="button"
          className="ms-reason"
          aria-pressed={chosen === group.key}
          onClick={() => onChoose(chosen === group.key ? undefined : group.key)}
        >
          <span className="ms-reason-name">
            {isKnown(group.key) ? t(`queue.reason.${group.key}`) : group.key}
          </span>
          <strong>{number.format(group.count)}</strong>
          <span className="ms-reason-bar" aria-hidden>
            <span style={{ width: `${Math.max(2, (100 * group.count) / most)}%` }} />
          </span>
        </button>
      ))}
    </fieldset>
  );
}
