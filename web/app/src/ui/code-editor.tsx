import './code-editor.css';
import { autocompletion, type CompletionContext, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { bracketMatching, defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';

export interface EditorFault {
  line: number;
  column: number;
  message: string;
}

export interface CodeEditorProps {
  value: string;
  onChange(value: string): void;
  label: string;
  /** Offered after `{{`. */
  variables: string[];
  faults: EditorFault[];
  readOnly?: boolean;
}

const darkHighlight = HighlightStyle.define([
  { tag: tags.tagName, color: '#9ecbff' },
  { tag: tags.attributeName, color: '#b9a7f5' },
  { tag: tags.attributeValue, color: '#9fdcb3' },
  { tag: [tags.angleBracket, tags.punctuation], color: '#a6adbb' },
  { tag: tags.comment, color: '#98a1b3' },
]);

/** The default style has colours with too little contrast. */
const lightHighlight = HighlightStyle.define([
  { tag: tags.tagName, color: '#14539a' },
  { tag: tags.attributeName, color: '#5b21b6' },
  { tag: tags.attributeValue, color: '#1c6b39' },
  { tag: [tags.angleBracket, tags.punctuation], color: '#4b5563' },
  { tag: tags.comment, color: '#5b6472' },
]);

const look = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'transparent', height: '100%' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.6' },
  '.cm-gutters': {
    backgroundColor: 'transparent',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--app-border)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--app-surface)', border: '1px solid var(--app-border)' },
  '&.cm-focused': { outline: 'none' },
});

const colors = (dark: boolean) => [
  EditorView.theme({ '.cm-cursor': { borderLeftColor: dark ? '#fff' : '#000' } }, { dark }),
  syntaxHighlighting(dark ? darkHighlight : lightHighlight),
  syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
];

const completionsOf = (variables: () => string[]) => (context: CompletionContext) => {
  const word = context.matchBefore(/\{\{\s*[\w.]*/);
  if (!word) return null;
  const from = word.from + (/^\{\{\s*/.exec(word.text)?.[0].length ?? 2);
  const closes = context.state.sliceDoc(context.pos, context.pos + 2) === '}}';
  return {
    from,
    options: variables().map((label) => ({ label, type: 'variable', apply: closes ? label : `${label}}}` })),
    validFor: /^[\w.]*$/,
  };
};

/** An HTML editor with completion of variables and the faults that rendering has found. Tab leaves it, as in forms. */
export function CodeEditor({ value, onChange, label, variables, faults, readOnly = false }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const current = useRef({ onChange, variables });
  current.current = { onChange, variables };
  const dark = useComputedColorScheme() === 'dark';
  const colorSetting = useRef(new Compartment());

  // The editor is created once and then updated.
  useEffect(() => {
    const { current: parent } = host;
    if (!parent) return undefined;
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightSelectionMatches(),
          EditorView.lineWrapping,
          html({ matchClosingTags: true }),
          autocompletion({ override: [completionsOf(() => current.current.variables)] }),
          lintGutter(),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
          EditorState.readOnly.of(readOnly),
          // Browsers reach editable text anyway; the attribute is for axe.
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) current.current.onChange(update.state.doc.toString());
          }),
          look,
          colorSetting.current.of(colors(dark)),
        ],
      }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = undefined;
    };
  }, []);

  useEffect(() => {
    view.current?.dispatch({ effects: colorSetting.current.reconfigure(colors(dark)) });
  }, [dark]);

  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== value)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { doc } = editor.state;
    const diagnostics = faults.flatMap(({ line, column, message }): Diagnostic[] => {
      if (line < 1 || line > doc.lines) return [];
      const at = doc.line(line);
      const from = Math.min(at.from + Math.max(0, column - 1), at.to);
      return [{ from, to: Math.min(from + 1, at.to), severity: 'error', message }];
    });
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [faults]);

  return <div ref={host} className="code-editor" />;
}
