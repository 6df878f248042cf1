import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { explain } from "@/lib/api/problem";

interface ConfirmProps {
  title: string;
  text?: ReactNode;
  /** Verb and object: "Kill run". */
  action: string;
  /** What leaves everything as it is: "Keep running". */
  keep?: string;
  danger?: boolean;
  /** What has to be typed first. */
  typed?: string | undefined;
  /** Whether what is asked for is filled in. */
  isReady?: boolean;
  size?: "md" | "lg";
  busy: boolean;
  error?: unknown;
  onConfirm: () => void;
  onClose: () => void;
  children?: ReactNode;
}

/** Asks before something is done; done is what the server has said is done. */
export function Confirm(props: ConfirmProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const told = props.error ? explain(props.error, t) : undefined;
  const isReady = props.isReady !== false && (!props.typed || typed.trim() === props.typed);
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={props.title}
      size={props.size ?? "md"}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <form
        className="ms-stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !props.busy) props.onConfirm();
        }}
      >
        {props.text && <div className="ms-muted">{props.text}</div>}
        {props.children}
        {props.typed && (
          <TextInput
            label={t("action.type_to_confirm", { text: props.typed })}
            value={typed}
            autoComplete="off"
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {told && (
          <p className="ms-error" role="alert">
            {told.title} {told.text} <span className="ms-faint">{told.note}</span>
          </p>
        )}
        <div className="ms-buttons">
          <Button onClick={props.onClose}>{props.keep ?? t("action.close")}</Button>
          <Button
            type="submit"
            variant="filled"
            color={props.danger ? "red" : "accent"}
            loading={props.busy}
            disabled={!isReady}
            data-autofocus={props.typed ? undefined : true}
          >
            {props.action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
