import { TextInput } from "@mantine/core";
import { fromInput, toInput } from "@/lib/time/zone";

interface MomentFieldProps {
  label: string;
  zone: string;
  value: number | undefined;
  error?: string | undefined;
  description?: string | undefined;
  required?: boolean;
  /** Has the focus when its dialog opens. */
  isFirst?: boolean;
  onChange: (at: number | undefined) => void;
}

/** A moment on the clock of a zone, which its label names. */
export function MomentField({ label, zone, value, isFirst, onChange, ...rest }: MomentFieldProps) {
  return (
    <TextInput
      type="datetime-local"
      step={1}
      data-autofocus={isFirst || undefined}
      label={
        <>
          {label} <span className="ms-faint">{zone}</span>
        </>
      }
      value={value === undefined ? "" : toInput(value, zone)}
      onChange={(event) => onChange(fromInput(event.currentTarget.value, zone))}
      {...rest}
    />
  );
}
