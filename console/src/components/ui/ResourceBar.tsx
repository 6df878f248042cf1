interface ResourceBarProps {
  /** 0 to 1; nothing when it is not known. */
  share: number | undefined;
  /** A mark on the same scale. */
  used?: number | undefined;
  text: string;
  label: string;
}

/** How much of something is used, as a bar and in words. */
export function ResourceBar({ share, used, text, label }: ResourceBarProps) {
  const percent = share === undefined ? 0 : Math.min(100, Math.round(share * 100));
  return (
    <span className="ms-resource" title={label.includes(text) ? label : `${label}: ${text}`}>
      <span className="ms-resource-bar" aria-hidden>
        <span style={{ width: `${percent}%` }} />
        {used !== undefined && <i style={{ left: `${Math.min(100, Math.round(used * 100))}%` }} />}
      </span>
      <span>{text}</span>
    </span>
  );
}
