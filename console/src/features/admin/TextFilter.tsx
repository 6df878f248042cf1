import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

interface TextFilterProps {
  label: string;
  value: string | undefined;
  /** The field that `/` goes to. */
  isSearch?: boolean;
  onApply: (value: string | undefined) => void;
}

/** A field whose text has to be whole: it applies with Enter, or when it is left. */
export function TextFilter({ label, value, isSearch, onApply }: TextFilterProps) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const apply = () => {
    const next = text.trim() || undefined;
    if (next !== value) onApply(next);
  };
  return (
    <TextInput
      label={label}
      value={text}
      spellCheck={false}
      autoCapitalize="off"
      data-search-field={isSearch || undefined}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply();
      }}
    />
  );
}
