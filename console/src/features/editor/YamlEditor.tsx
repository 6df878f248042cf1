import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { styleNonce } from "@/app/theme";

interface YamlEditorProps {
  label: string;
  /** The text at first; later changes come from the person alone, unless `resetKey` changes. */
  text: string;
  resetKey: string;
  readOnly: boolean;
  /** Lines with problems, from 1. */
  problems: number[];
  onChange: (text: string) => void;
}

const setProblems = StateEffect.define<number[]>();
const problemLine = Decoration.line({ class: "ms-problem-line" });

const problemField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setProblems)) continue;
      const lines = [...new Set(effect.value)].filter(
        (line) => line >= 1 && line <= transaction.state.doc.lines,
      );
      next = Decoration.set(
        lines.sort((a, b) => a - b).map((line) => problemLine.range(transaction.state.doc.line(line).from)),
      );
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--ms-ansi-blue)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ms-ansi-green)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--ms-ansi-magenta)" },
  { tag: tags.comment, color: "var(--ms-log-faint)" },
]);

/** YAML text with colours, line numbers and marked problems. Escape, then Tab leaves it. */
export default function YamlEditor({ label, text, resetKey, readOnly, problems, onChange }: YamlEditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor owns its text; `resetKey` says when it begins anew.
  useEffect(() => {
    if (!box.current) return;
    const editor = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          yaml(),
          syntaxHighlighting(colours),
          problemField,
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [resetKey, readOnly, label]);

  const marks = problems.join();
  useEffect(() => {
    view.current?.dispatch({ effects: setProblems.of(marks ? marks.split(",").map(Number) : []) });
  }, [marks]);

  return <div className="ms-editor" ref={box} />;
}
