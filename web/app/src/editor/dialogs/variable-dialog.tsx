import { Autocomplete, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { closeHistory } from '@tiptap/pm/history';
import { useState } from 'react';
import { useCustomFields } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { VariableAttributes } from '../schema/variable.ts';

const BUILT_IN = ['email', 'unsubscribeUrl', 'subscribeUrl', 'manageUrl', 'address'];
const FORMATS = ['upper', 'lower', 'number', 'date'] as const;
/** What the format of documents allows as a name. */
const NAME = /^[^{}"'`\\]{1,100}$/;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

interface VariableDialogProps {
  opened: boolean;
  onClose(): void;
  /** The chip that is edited. */
  value: VariableAttributes | undefined;
  onSave(value: VariableAttributes): void;
  onRemove(): void;
  /** Subjects are templates, and have fallbacks only. */
  withFormat?: boolean;
}

/** Inserts a variable, or changes or removes one. */
export function VariableDialog({ opened, onClose, value, onSave, onRemove, withFormat = true }: VariableDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={value ? t.editor.variable : t.editor.insertVariable}>
      <VariableForm
        key={JSON.stringify(value)}
        value={value}
        onSave={onSave}
        onRemove={value ? onRemove : undefined}
        onClose={onClose}
        withFormat={withFormat}
      />
    </Dialog>
  );
}

interface VariableFormProps {
  value: VariableAttributes | undefined;
  onSave(value: VariableAttributes): void;
  onRemove: (() => void) | undefined;
  onClose(): void;
  withFormat: boolean;
}

function VariableForm({ value, onSave, onRemove, onClose, withFormat }: VariableFormProps) {
  const fields = useCustomFields();
  const [name, setName] = useState(value?.name ?? '');
  const [fallback, setFallback] = useState(value?.fallback ?? '');
  const [format, setFormat] = useState(value?.format ?? null);
  const typed = name.trim();
  const isValid = NAME.test(typed) && !typed.split('.').some((part) => FORBIDDEN.has(part));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        // The page around the editor may have a form too.
        event.stopPropagation();
        if (isValid) onSave({ name: typed, fallback: fallback === '' ? null : fallback, format });
      }}
    >
      <Stack>
        <Autocomplete
          label={t.editor.variableName}
          description={t.editor.variableHint}
          data={[...new Set([...fields, ...BUILT_IN])]}
          maxDropdownHeight={240}
          maxLength={100}
          required
          data-autofocus
          value={name}
          onChange={setName}
          error={typed !== '' && !isValid ? t.editor.variableInvalid : undefined}
        />
        <TextInput
          label={t.editor.fallback}
          description={t.editor.fallbackHint}
          maxLength={500}
          value={fallback}
          onChange={(event) => setFallback(event.currentTarget.value)}
        />
        {withFormat && (
          <Select
            label={t.editor.format}
            data={FORMATS.map((each) => ({ value: each, label: t.editor.formatNames[each] }))}
            placeholder={t.editor.noFormat}
            clearable
            clearButtonProps={{ 'aria-label': t.editor.noFormat }}
            value={format}
            onChange={setFormat}
          />
        )}
        <Group justify="space-between">
          {onRemove ? (
            <Button variant="subtle" color="red" onClick={onRemove}>
              {t.editor.removeVariable}
            </Button>
          ) : (
            <span />
          )}
          <Group>
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" disabled={!isValid}>
              {value ? t.editor.apply : t.editor.insert}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

interface TipTapEditor {
  state: import('@tiptap/pm/state').EditorState;
  view: import('@tiptap/pm/view').EditorView;
}

/** Puts a chip in the place of the selection, such as a selected chip. */
export function writeVariable({ state, view }: TipTapEditor, attrs: VariableAttributes): void {
  const type = state.schema.nodes.variable;
  if (!type) return;
  const { from, to, $from } = state.selection;
  const marks = state.doc.nodeAt(from)?.marks ?? $from.marks();
  const allowed = $from.parent.type.allowedMarks(marks);
  view.dispatch(
    closeHistory(state.tr)
      .replaceWith(from, to, type.create(attrs, null, allowed))
      .scrollIntoView(),
  );
  view.focus();
}

export function removeVariable({ state, view }: TipTapEditor): void {
  view.dispatch(closeHistory(state.tr).deleteSelection());
  view.focus();
}
