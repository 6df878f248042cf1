interface ResourceBarProps {
  /** 0 to 1; nothing when it is not known. */
  share: number | undefined;
  text: string;
  label: string;
}

/** How much of something is used, as a bar and in words. */
export function ResourceBar({ share, text, label }: ResourceBarProps) {
  const percent = share === undefined ? 0 : Math.min(100, Math.round(share * 100));
  return (
    <span className="ms-resource" title={`${label}: ${text}`}>
      <span className="ms-resource-bar" aria-hidden>
        <span style={{ width: `${percent}%` }} />
      </span>
      <span>{text}</span>
    </span>
  );
}
