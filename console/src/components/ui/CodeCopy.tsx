import { CopyButton } from "./Copy";

/** A text to paste elsewhere: a command, a secret that is shown once, a part of a file. */
export function CodeCopy({ text, label }: { text: string; label: string }) {
  return (
    <div className="ms-once">
      <pre className="ms-code" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
