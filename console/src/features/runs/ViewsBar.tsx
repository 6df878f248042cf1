import { ActionIcon, Button, Popover, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { VIEWS } from "./query";
import { useSavedViews } from "./savedViews";

/** Queries by name: those that everybody has, and a person's own. */
export function ViewsBar({
  q,
  onQuery,
  children,
}: {
  q: string;
  onQuery: (q: string) => void;
  children?: ReactNode;
}) {
  const { t } = useTranslation();
  const saved = useSavedViews();
  const [name, setName] = useState("");
  const [isOpen, setOpen] = useState(false);
  const isKnown = VIEWS.some((view) => view.q === q) || saved.views.some((view) => view.q === q);
  return (
    <div className="ms-views">
      {VIEWS.map((view) => (
        <button type="button" key={view.name} aria-pressed={view.q === q} onClick={() => onQuery(view.q)}>
          {t(`runs.view.${view.name}`)}
        </button>
      ))}
      {saved.views.map((view) => (
        <span key={view.name} className="ms-saved-view">
          <button type="button" aria-pressed={view.q === q} title={view.q} onClick={() => onQuery(view.q)}>
            {view.name}
          </button>
          {view.q === q && (
            <ActionIcon
              size={20}
              aria-label={t("runs.remove_view", { name: view.name })}
              onClick={() => saved.remove(view.name)}
            >
              <IconX size={12} />
            </ActionIcon>
          )}
        </span>
      ))}
      {!isKnown && (
        <Popover opened={isOpen} onChange={setOpen} trapFocus>
          <Popover.Target>
            <Button variant="subtle" onClick={() => setOpen(!isOpen)}>
              {t("runs.save_view")}
            </Button>
          </Popover.Target>
          <Popover.Dropdown>
            <form
              className="ms-stack"
              onSubmit={(event) => {
                event.preventDefault();
                if (name.trim()) saved.save({ name: name.trim(), q });
                setName("");
                setOpen(false);
              }}
            >
              <TextInput
                label={t("runs.view_name")}
                value={name}
                maxLength={40}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Button type="submit" variant="filled">
                {t("runs.save_view")}
              </Button>
            </form>
          </Popover.Dropdown>
        </Popover>
      )}
      <span className="ms-grow" />
      {children}
    </div>
  );
}
