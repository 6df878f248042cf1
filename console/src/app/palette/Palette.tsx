import { Modal } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { type PaletteItem, usePaletteItems } from "./usePaletteItems";
import "./palette.css";

export interface PaletteProps {
  /** Only what can be done with the object of the page. */
  onlyActions: boolean;
  onClose: () => void;
  onKeys: () => void;
}

/** Everything by name: type, choose, Enter. */
export function Palette({ onlyActions, onClose, onKeys }: PaletteProps) {
  const { t } = useTranslation();
  const list = useId();
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const { items, isLoading } = usePaletteItems(query, onlyActions, onKeys);
  const active = Math.min(chosen, items.length - 1);
  const options = useRef<HTMLDivElement>(null);
  useEffect(() => {
    options.current?.querySelector(`[data-index="${active}"]`)?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const perform = (item: PaletteItem | undefined) => {
    if (!item) return;
    onClose();
    item.run();
  };
  const onKey = (event: KeyboardEvent) => {
    // An input method is choosing characters.
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") setChosen((active + 1) % Math.max(1, items.length));
    else if (event.key === "ArrowUp") setChosen((active - 1 + items.length) % Math.max(1, items.length));
    else if (event.key === "Enter") perform(items[active]);
    else return;
    event.preventDefault();
  };
  const label = onlyActions ? t("palette.actions") : t("palette.title");
  return (
    <Modal.Root opened onClose={onClose} size={620} yOffset="10dvh" centered={false} padding={0}>
      <Modal.Overlay />
      <Modal.Content aria-label={label} className="ms-palette">
        <Modal.Body>
          <div className="ms-palette-field">
            <IconSearch size={18} stroke={1.7} aria-hidden />
            <input
              role="combobox"
              aria-label={label}
              aria-expanded
              aria-controls={list}
              aria-autocomplete="list"
              aria-activedescendant={items[active] ? `${list}-${active}` : undefined}
              placeholder={onlyActions ? t("palette.actions_hint") : t("palette.hint")}
              spellCheck={false}
              autoCapitalize="off"
              autoComplete="off"
              data-autofocus
              value={query}
              onChange={(event) => {
                setQuery(event.currentTarget.value);
                setChosen(0);
              }}
              onKeyDown={onKey}
            />
            <button type="button" onClick={onClose}>
              Esc
            </button>
          </div>
          <div ref={options} id={list} role="listbox" aria-label={label} className="ms-palette-list">
            {items.map((item, index) => (
              <Entry
                key={`${item.group} ${item.id}`}
                item={item}
                id={`${list}-${index}`}
                index={index}
                isFirst={items[index - 1]?.group !== item.group}
                isActive={index === active}
                onPoint={() => setChosen(index)}
                onChoose={() => perform(item)}
              />
            ))}
          </div>
          <p className="ms-palette-foot" role="status">
            {items.length === 0
              ? isLoading
                ? t("palette.loading")
                : t("palette.none")
              : t("palette.count", { count: items.length })}
          </p>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

interface EntryProps {
  item: PaletteItem;
  id: string;
  index: number;
  isFirst: boolean;
  isActive: boolean;
  onPoint: () => void;
  onChoose: () => void;
}

/** One entry, below the name of its group when it is the first of it. The keys are the input's. */
function Entry({ item, id, index, isFirst, isActive, onPoint, onChoose }: EntryProps) {
  const { t } = useTranslation();
  return (
    <>
      {isFirst && item.group !== "found" && (
        <div className="ms-palette-group" role="presentation">
          {t(`palette.group.${item.group}`)}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys. */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: it is the input's active descendant. */}
      <div
        id={id}
        role="option"
        aria-selected={isActive}
        data-index={index}
        className="ms-palette-item"
        onMouseMove={isActive ? undefined : onPoint}
        onClick={onChoose}
      >
        <span className="ms-palette-label">{item.label}</span>
        {item.note && <span className="ms-palette-note">{item.note}</span>}
        {item.keys && (
          <span className="ms-palette-keys">
            {item.keys.split(" ").map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </span>
        )}
      </div>
    </>
  );
}
