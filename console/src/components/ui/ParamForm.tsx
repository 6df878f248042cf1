import { Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Field, ParamProblem } from "./params";

interface ParamFormProps {
  fields: Field[];
  texts: Record<string, string>;
  problems: Record<string, ParamProblem>;
  onChange: (texts: Record<string, string>) => void;
}

/** A form made from the typed parameters of a job. */
export function ParamForm({ fields, texts, problems, onChange }: ParamFormProps) {
  const { t } = useTranslation();
  return fields.map((field) => {
    const problem = problems[field.name];
    const set = (text: string) => onChange({ ...texts, [field.name]: text });
    const common = {
      label: field.name,
      description: field.description || undefined,
      required: field.required,
      value: texts[field.name] ?? "",
      error: problem && problem !== "required" ? t(`param.${problem}`) : undefined,
    };
    if (field.type === "boolean") {
      return (
        <Switch
          key={field.name}
          label={field.name}
          description={common.description}
          checked={common.value === "true"}
          onChange={(event) => set(String(event.currentTarget.checked))}
        />
      );
    }
    if (field.type === "enum") {
      return (
        <Select key={field.name} {...common} data={field.values} onChange={(value) => set(value ?? "")} />
      );
    }
    if (["list", "object", "json"].includes(field.type)) {
      return (
        <Textarea
          key={field.name}
          {...common}
          autosize
          minRows={2}
          maxRows={10}
          onChange={(event) => set(event.currentTarget.value)}
        />
      );
    }
    return (
      <TextInput
        key={field.name}
        {...common}
        inputMode={field.type === "string" ? "text" : "decimal"}
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  });
}
