import { ActionIcon, Combobox, TextInput, useCombobox } from "@mantine/core";
import { IconSearch, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { StateBadge } from "@/components/ui/StateBadge";
import { complete, suggest, wordAt } from "./query";

interface QueryBarProps {
  value: string;
  problem: string | undefined;
  onChange: (q: string) => void;
}

/** The query, with completion of keys and values. Enter or a pause applies it. */
export function QueryBar({ value, problem, onChange }: QueryBarProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const [caret, setCaret] = useState(value.length);
  const input = useRef<HTMLInputElement>(null);
  const combobox = useCombobox();
  const sent = useRef(value);
  useEffect(() => {
    // Only what came from elsewhere: what is being typed stays.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const apply = (q: string) => {
    const trimmed = q.trim();
    sent.current = trimmed;
    if (trimmed !== value) onChange(trimmed);
  };
  const options = suggest(wordAt(text, caret).word).slice(0, 12);
  const choose = (word: string) => {
    const next = complete(text, caret, word);
    setText(next.q);
    setCaret(next.caret);
    if (next.q.endsWith(" ")) apply(next.q);
    requestAnimationFrame(() => input.current?.setSelectionRange(next.caret, next.caret));
    combobox.openDropdown();
    combobox.resetSelectedOption();
  };
  return (
    <Combobox store={combobox} onOptionSubmit={choose} position="bottom-start" width={320}>
      <Combobox.Target>
        <TextInput
          ref={input}
          className="ms-query"
          data-search-field
          aria-label={t("runs.query")}
          placeholder={t("runs.query_hint")}
          spellCheck={false}
          autoCapitalize="off"
          value={text}
          error={problem}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={
            text && (
              <ActionIcon
                aria-label={t("runs.clear_query")}
                onClick={() => {
                  setText("");
                  apply("");
                  input.current?.focus();
                }}
              >
                <IconX size={14} />
              </ActionIcon>
            )
          }
          onChange={(event) => {
            setText(event.currentTarget.value);
            setCaret(event.currentTarget.selectionStart ?? event.currentTarget.value.length);
            combobox.openDropdown();
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => {
            combobox.closeDropdown();
            apply(text);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && combobox.getSelectedOptionIndex() < 0) {
              combobox.closeDropdown();
              apply(text);
            } else if (event.key === "Escape") {
              combobox.closeDropdown();
              input.current?.blur();
            }
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={options.length === 0}>
        <Combobox.Options mah={320} className="ms-scroll">
          {options.map((option) => (
            <Combobox.Option key={option.word} value={option.word}>
              <span className="ms-suggestion">
                <code>{option.word}</code>
                {option.state && <StateBadge kind="run" state={option.state} />}
              </span>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
