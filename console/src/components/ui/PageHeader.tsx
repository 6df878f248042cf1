import type { ReactNode } from "react";

export function PageHeader({
  title,
  note,
  children,
}: {
  title: ReactNode;
  note?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="ms-head">
      <h1>{title}</h1>
      {note && <div className="ms-head-note">{note}</div>}
      <span className="ms-grow" />
      {children && <div className="ms-buttons">{children}</div>}
    </div>
  );
}
