import type { UseMutationResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { explain } from "@/lib/api/problem";
import type { Submitted } from "@/lib/api/schema";
import { TestRun } from "./TestRun";
import type { Checked } from "./useCheck";

interface SidePanelProps {
  checked: Checked;
  test: UseMutationResult<Submitted, Error, void>;
  saveError: unknown;
}

/** Problems as the server reports them, at their line; then the test run. */
export function SidePanel({ checked, test, saveError }: SidePanelProps) {
  const { t } = useTranslation();
  const failure = saveError ?? test.error;
  const told = failure ? explain(failure, t) : undefined;
  return (
    <div className="ms-editor-side">
      <section className="ms-panel" aria-live="polite">
        <h2>{t("editor.problems")}</h2>
        {checked.kind === "checking" && <p className="ms-muted">…</p>}
        {checked.kind === "good" && <p className="ms-good">{t("editor.no_problems")}</p>}
        {checked.kind === "bad" && <Problems checked={checked} />}
      </section>
      {told && (
        <p className="ms-error ms-panel" role="alert">
          {told.title} {told.text} <span className="ms-faint">{told.note}</span>
        </p>
      )}
      {test.data && (
        <section className="ms-panel">
          <h2>
            {t("editor.test_run")}{" "}
            <Link to="/runs/$run" params={{ run: test.data.id }} search={(before) => ({ ns: before.ns })}>
              …{test.data.id.slice(-6)}
            </Link>
          </h2>
          <TestRun key={test.data.id} id={test.data.id} />
        </section>
      )}
    </div>
  );
}

function Problems({ checked }: { checked: Extract<Checked, { kind: "bad" }> }) {
  const { t } = useTranslation();
  if (checked.fields.length === 0) {
    const told = explain(checked.error, t);
    return (
      <p className="ms-error">
        {told.title} {told.text}
      </p>
    );
  }
  return (
    <ul className="ms-problems">
      {checked.fields.map((field) => {
        const { line } = field;
        return (
          <li key={`${field.path} ${field.message}`}>
            {line && <span className="ms-faint">{t("editor.line", { line })}</span>}{" "}
            {field.path && <code>{field.path}</code>} {field.message}
            {field.hint && <p className="ms-muted">{field.hint}</p>}
          </li>
        );
      })}
    </ul>
  );
}
