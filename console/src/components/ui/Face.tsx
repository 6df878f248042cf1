import { IconAlertTriangle, IconInbox, IconLock } from "@tabler/icons-react";
import type { ReactNode } from "react";

const ICONS = { empty: IconInbox, error: IconAlertTriangle, forbidden: IconLock } as const;

interface FaceProps {
  kind: keyof typeof ICONS;
  title: string;
  text?: ReactNode;
  /** Code and request id, for who asks for help. */
  note?: string | undefined;
  children?: ReactNode;
}

/** What stands in place of content: nothing there, nothing readable, or nothing allowed. */
export function Face({ kind, title, text, note, children }: FaceProps) {
  const Icon = ICONS[kind];
  return (
    <div className="ms-face" role={kind === "error" ? "alert" : undefined}>
      <Icon size={28} stroke={1.4} aria-hidden />
      <p className="ms-face-title">{title}</p>
      {text && <div className="ms-face-text">{text}</div>}
      {note && <p className="ms-face-note">{note}</p>}
      {children && <div className="ms-face-actions">{children}</div>}
    </div>
  );
}
