import { memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { spans } from "@/lib/log/ansi";
import { pieces } from "@/lib/log/links";
import { bytes } from "@/lib/size";
import type { ShownRow } from "./logRows";

const FOLD_CHARS = 4096;

interface LogLineProps {
  row: ShownRow;
  time: string;
  pattern: RegExp | undefined;
  isCurrent: boolean;
  isLinked: boolean;
  onLink: (key: string) => void;
}

/** One line of output. Whatever a task wrote is text: there is no HTML here. */
export const LogLine = memo(function LogLine({
  row,
  time,
  pattern,
  isCurrent,
  isLinked,
  onLink,
}: LogLineProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  if (row.gap !== undefined) {
    return (
      <div className="ms-log-line ms-log-cut" data-linked={isLinked || undefined}>
        {t("run.log.gap", { size: bytes(row.gap) })}
      </div>
    );
  }
  const isLong = row.text.length > FOLD_CHARS && !isOpen;
  const text = isLong ? row.text.slice(0, FOLD_CHARS) : row.text;
  return (
    <div
      className="ms-log-line"
      data-stream={row.stream}
      data-linked={isLinked || undefined}
      data-current={isCurrent || undefined}
    >
      <button
        type="button"
        className="ms-log-number"
        tabIndex={-1}
        aria-label={t("run.log.link_line", { n: row.number })}
        onClick={() => onLink(row.key)}
      >
        {row.number}
      </button>
      {time && <span className="ms-log-time">{time}</span>}
      <span className="ms-log-stream" title={row.stream}>
        {row.stream === "stdout" ? "" : row.stream === "stderr" ? "err" : "sys"}
      </span>
      <span className="ms-log-text" dir="ltr">
        {spans(text).map((span, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a line have no identity but their place.
          <span key={index} className={span.look || undefined}>
            {pieces(span.text).map((piece) =>
              piece.href ? (
                <a key={piece.href} href={piece.href} target="_blank" rel="noopener noreferrer">
                  {piece.text}
                </a>
              ) : (
                marked(piece.text, pattern)
              ),
            )}
          </span>
        ))}
        {isLong && (
          <button type="button" className="ms-log-more" onClick={() => setOpen(true)}>
            {t("run.log.show_rest", { size: bytes(row.text.length) })}
          </button>
        )}
      </span>
    </div>
  );
});

function marked(text: string, pattern: RegExp | undefined) {
  if (!pattern) return text;
  const parts: React.ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[0] === "") continue;
    parts.push(text.slice(from, match.index), <mark key={match.index}>{match[0]}</mark>);
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}
