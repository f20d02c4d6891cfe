import { ActionIcon, Box, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { isSameJson } from '../../../../../../platform/merge-graphs.ts';
import { t } from '../../../texts/index.ts';
import { FieldGroup } from '../../../ui/field-group.tsx';
import { type Config, objectOf, readableName, typedText, typedValue } from './schema.ts';
import { Field, type FieldProps } from './schema-form.tsx';

/** Keeps what is typed while the value that it means stays the same; follows the value when something else changes it. */
function useTyped<Typed>(value: unknown, read: (typed: Typed) => unknown, write: (value: unknown) => Typed) {
  const [state, setState] = useState(() => ({ value, typed: write(value) }));
  const typed = isSameJson(state.value, value) ? state.typed : write(value);
  const type = (next: Typed): unknown => {
    const meant = read(next);
    setState({ value: meant, typed: next });
    return meant;
  };
  return [typed, type] as const;
}

interface JsonFieldProps {
  label: string;
  description: string | undefined;
  error: string | undefined;
  required: boolean;
  disabled: boolean;
  value: unknown;
  onChange(value: unknown): void;
}

/** Text, or JSON. */
export function JsonField({ value, onChange, ...field }: JsonFieldProps) {
  const [text, type] = useTyped<string>(
    value,
    (typed) => (typed === '' ? undefined : typedValue(typed)),
    (given) => (given === undefined || given === null ? '' : typedText(given)),
  );
  return (
    <Textarea
      {...field}
      rows={4}
      ff="monospace"
      value={text}
      onChange={(event) => onChange(type(event.currentTarget.value))}
    />
  );
}

type Entry = [key: string, value: string];

/** Names with values, such as the fields of a contact. */
export function RecordField({ schema, value, onChange, path, form, label = '' }: FieldProps) {
  const onlyTexts = Object.values(schema.patternProperties ?? {}).some(({ type }) => type === 'string');
  const [entries, type] = useTyped<Entry[]>(
    value,
    (typed) => {
      const named = typed.filter(([key]) => key !== '');
      if (named.length === 0) return undefined;
      return Object.fromEntries(named.map(([key, text]) => [key, onlyTexts ? text : typedValue(text)]));
    },
    (given) => Object.entries(objectOf(given)).map(([key, one]) => [key, onlyTexts ? String(one) : typedText(one)]),
  );
  const set = (next: Entry[]) => onChange(type(next));
  return (
    <Rows label={label} error={form.errorAt(path)} add={form.readOnly ? undefined : () => set([...entries, ['', '']])}>
      {entries.map(([key, text], index) => (
        // Entries have no identity but their place.
        <Group key={index} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={t.canvas.keyOf(label, index + 1)}
            placeholder={t.common.name}
            value={key}
            disabled={form.readOnly}
            onChange={({ currentTarget: { value: name } }) => set(entries.with(index, [name, text]))}
          />
          <TextInput
            aria-label={t.canvas.valueOf(label, index + 1)}
            placeholder={t.canvas.value}
            value={text}
            disabled={form.readOnly}
            onChange={({ currentTarget: { value: typed } }) => set(entries.with(index, [key, typed]))}
          />
          {!form.readOnly && (
            <Remove label={t.canvas.removeRow(label, index + 1)} onClick={() => set(entries.toSpliced(index, 1))} />
          )}
        </Group>
      ))}
    </Rows>
  );
}

/** A list of objects, one row of fields each. */
export function RowsField({ schema, value, onChange, path, form, label = '' }: FieldProps) {
  const rows = Array.isArray(value) ? value.map(objectOf) : [];
  const { properties = {} } = schema.items ?? {};
  const names = Object.keys(properties);
  const isFull = schema.maxItems !== undefined && rows.length >= schema.maxItems;
  const add = () => onChange([...rows, newRow(properties, rows)]);
  return (
    <Rows label={label} error={form.errorAt(path)} add={form.readOnly || isFull ? undefined : add}>
      {rows.length > 0 && (
        <Group gap="xs" wrap="nowrap" aria-hidden>
          {names.map((name) => (
            <Text key={name} size="xs" c="dimmed" flex="1 1 0">
              {fieldLabel(name)}
            </Text>
          ))}
          {!form.readOnly && <Box w={36} />}
        </Group>
      )}
      {rows.map((row, index) => (
        // Rows have no identity but their place.
        <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
          {names.map((name) => (
            <Box key={name} flex="1 1 0" miw={0}>
              <Field
                name={name}
                label={t.canvas.inRow(fieldLabel(name), index + 1)}
                isLabelHidden
                schema={properties[name] ?? {}}
                value={row[name]}
                onChange={(next) => onChange(rows.with(index, { ...row, [name]: next ?? '' }))}
                path={`${path}.${index}.${name}`}
                required={false}
                form={form}
              />
            </Box>
          ))}
          {!form.readOnly && (
            <Remove label={t.canvas.removeRow(label, index + 1)} onClick={() => onChange(rows.toSpliced(index, 1))} />
          )}
        </Group>
      ))}
    </Rows>
  );
}

const fieldLabel = (name: string): string => (t.canvas.fields as Record<string, string>)[name] ?? readableName(name);

/** A new row that can be saved as it is: names of their own, and the number of the row before. */
const newRow = (properties: Record<string, { type?: string | string[] }>, rows: Config[]): Config =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => {
      const before = rows.at(-1)?.[name];
      if (type === 'number') return [name, typeof before === 'number' ? before : 1];
      return [name, type === 'boolean' ? false : String.fromCharCode(65 + (rows.length % 26))];
    }),
  );

interface RowsProps {
  label: string;
  error: string | undefined;
  add: (() => void) | undefined;
  children: ReactNode;
}

const Rows = ({ label, error, add, children }: RowsProps) => (
  <FieldGroup label={label}>
    <Stack gap="xs">
      {children}
      {error && (
        <Text size="xs" className="error-text">
          {error}
        </Text>
      )}
      {add && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={add}
          style={{ alignSelf: 'flex-start' }}
          aria-label={t.canvas.addRowTo(label)}
        >
          {t.canvas.addRow}
        </Button>
      )}
    </Stack>
  </FieldGroup>
);

const Remove = ({ label, onClick }: { label: string; onClick(): void }) => (
  <ActionIcon variant="subtle" color="gray" size={36} onClick={onClick} aria-label={label}>
    <IconX size={16} />
  </ActionIcon>
);
