import { ActionIcon, Input } from '@mantine/core';
import { IconBraces } from '@tabler/icons-react';
import { Extension } from '@tiptap/core';
import { UndoRedo } from '@tiptap/extensions';
import { EditorContent, useEditorState } from '@tiptap/react';
import { useEffect, useId, useRef, useState } from 'react';
import { t } from '../texts/index.ts';
import { removeVariable, VariableDialog, writeVariable } from './dialogs/variable-dialog.tsx';
import type { DocumentNode } from './schema/document.ts';
import { lineExtensions } from './schema/extensions.ts';
import { templateOf } from './schema/line.ts';
import { selectedVariable } from './schema/places.ts';
import type { VariableAttributes } from './schema/variable.ts';
import { useOwnEditor } from './view/use-own-editor.ts';
import './chip-field.css';

interface ChipFieldProps {
  label: string;
  className?: string;
  description?: string;
  placeholder?: string;
  value: DocumentNode[];
  onChange(value: DocumentNode[]): void;
  required?: boolean;
  readOnly?: boolean;
  /** The value becomes a template, which has no formats. */
  isTemplate?: boolean;
  error?: string | undefined;
}

const contentOf = (value: DocumentNode[]) => ({
  type: 'doc',
  content: [{ type: 'line', content: value.filter(({ text }) => text !== '') }],
});

/** One line of text with variables as chips. */
export function ChipField(props: ChipFieldProps) {
  const {
    label,
    className,
    description,
    placeholder,
    value,
    required = false,
    readOnly = false,
    isTemplate = false,
    error,
  } = props;
  const id = useId();
  const [opened, setOpened] = useState(false);
  const current = useRef(props);
  current.current = props;
  const editor = useOwnEditor({
    extensions: [
      ...lineExtensions(),
      UndoRedo,
      Extension.create({
        name: 'lineKeys',
        addKeyboardShortcuts: () => ({
          Enter: ({ editor: { state } }) => {
            if (selectedVariable(state)) setOpened(true);
            return true;
          },
        }),
      }),
    ],
    content: contentOf(value),
    editable: !readOnly,
    injectCSS: false,
    shouldRerenderOnTransaction: false,
    editorProps: {
      attributes: {
        id,
        role: 'textbox',
        class: 'chip-line',
        tabindex: '0',
        'aria-label': label,
        ...(required && { 'aria-required': 'true' }),
      },
      // Lines that are pasted become one.
      transformPastedText: (text) => text.replace(/\s*[\r\n]+\s*/g, ' '),
      handleDoubleClickOn: (_, __, node) => {
        if (node.type.name === 'variable') setOpened(true);
        return node.type.name === 'variable';
      },
    },
    onUpdate: ({ editor }) => current.current.onChange(lineIn(editor.getJSON() as DocumentNode)),
  });
  // A value from elsewhere, such as a restored version.
  useEffect(() => {
    const shown = lineIn(editor.getJSON() as DocumentNode);
    if (templateOf(shown) !== templateOf(value)) editor.commands.setContent(contentOf(value), { emitUpdate: false });
  }, [editor, value]);
  useEffect(() => {
    if (error) editor.view.dom.setAttribute('aria-invalid', 'true');
    else editor.view.dom.removeAttribute('aria-invalid');
  }, [editor, error]);
  const isEmpty = useEditorState({
    editor,
    selector: ({ editor: { state } }) => state.doc.firstChild?.content.size === 0,
  });
  const chip = opened ? selectedVariable(editor.state) : undefined;
  const close = () => {
    setOpened(false);
    setTimeout(() => editor.view.focus(), 50);
  };
  return (
    <Input.Wrapper
      className={className}
      label={label}
      labelElement="div"
      description={description}
      error={error}
      required={required}
    >
      <div className="chip-field" data-invalid={error ? true : undefined}>
        <EditorContent editor={editor} className="chip-editor" />
        {isEmpty && placeholder && (
          <span className="chip-placeholder" aria-hidden>
            {placeholder}
          </span>
        )}
        {!readOnly && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t.editor.insertVariableInto(label)}
            title={t.editor.insertVariable}
            onClick={() => setOpened(true)}
          >
            <IconBraces size={16} />
          </ActionIcon>
        )}
      </div>
      <VariableDialog
        opened={opened}
        withFormat={!isTemplate}
        onClose={close}
        value={chip?.node.attrs as VariableAttributes | undefined}
        onSave={(attrs) => {
          writeVariable(editor, attrs);
          close();
        }}
        onRemove={() => {
          removeVariable(editor);
          close();
        }}
      />
    </Input.Wrapper>
  );
}

const lineIn = (doc: DocumentNode): DocumentNode[] => doc.content?.[0]?.content ?? [];
