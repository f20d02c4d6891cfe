import { Alert, Button, Group, Select, Stack, Switch } from '@mantine/core';
import { useCustomFields } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import type { CsvHead } from './csv.ts';
import { megabytes } from './import-file.tsx';

const EMAIL = 'email';
const SUBSCRIBED = 'subscribed';
const LEAVE_OUT = '\u0000leave-out';

/** The field of each column; null leaves a column out. */
export type Mapping = Record<string, string | null>;

export interface Chosen {
  file: File;
  head: CsvHead;
}

/** A column named like a field becomes that field. */
export function guessMapping(columns: string[]): Mapping {
  const isEmail = (name: string) => /^e-?mail([ _-]?address)?$/i.test(name.trim());
  const emailColumn = columns.find(isEmail) ?? columns.find((name) => /mail/i.test(name));
  return Object.fromEntries(
    columns.map((name) => [
      name,
      name === emailColumn ? EMAIL : /^subscribed$/i.test(name.trim()) ? SUBSCRIBED : name.trim() || null,
    ]),
  );
}

interface ColumnsStepProps {
  chosen: Chosen;
  mapping: Mapping;
  onChange(mapping: Mapping): void;
  subscribed: boolean;
  onSubscribed(subscribed: boolean): void;
  busy: boolean;
  onCheck(): void;
  onBack(): void;
}

/** Maps columns to fields. */
export function ColumnsStep(props: ColumnsStepProps) {
  const { chosen, mapping, onChange, subscribed, onSubscribed, busy, onCheck, onBack } = props;
  const custom = useCustomFields();
  const targets = Object.values(mapping).filter((target): target is string => target !== null);
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  const fault = !targets.includes(EMAIL)
    ? t.imports.needsEmail
    : twice !== undefined
      ? t.imports.twice(twice === EMAIL ? t.imports.email : twice)
      : undefined;
  const optionsFor = (column: string) => {
    const own = column.trim();
    const isNew = own !== '' && !custom.includes(own) && own !== EMAIL && own !== SUBSCRIBED;
    return [
      { value: EMAIL, label: t.imports.email },
      { value: SUBSCRIBED, label: t.imports.subscribed },
      ...(isNew ? [{ value: own, label: t.imports.newField(own) }] : []),
      ...custom.map((field) => ({ value: field, label: field })),
      { value: LEAVE_OUT, label: t.imports.leaveOut },
    ];
  };
  const rows = chosen.head.columns.map((name, index) => ({ name, example: chosen.head.example[index] ?? '', index }));
  return (
    <Panel
      flush
      title={t.imports.columnsTitle}
      description={
        <>
          {t.imports.columnsText} {t.imports.chosen(chosen.file.name, megabytes(chosen.file.size))}
        </>
      }
    >
      <DataTable
        label={t.imports.columnsTitle}
        rows={rows}
        rowId={({ index }) => String(index)}
        columns={[
          { id: 'column', header: t.imports.column, main: true, cell: ({ name }) => name },
          { id: 'example', header: t.imports.example, cell: ({ example }) => example.slice(0, 120) },
          {
            id: 'target',
            header: t.imports.target,
            cell: ({ name }) => (
              <Select
                aria-label={t.imports.targetOf(name)}
                data={optionsFor(name)}
                value={mapping[name] ?? LEAVE_OUT}
                onChange={(value) => onChange({ ...mapping, [name]: value === LEAVE_OUT ? null : value })}
                allowDeselect={false}
                searchable
                miw={170}
              />
            ),
          },
        ]}
      />
      <Stack p="lg">
        <Switch
          label={t.imports.subscribeNew}
          description={t.imports.subscribeNewHint}
          checked={subscribed}
          onChange={(event) => onSubscribed(event.currentTarget.checked)}
        />
        {fault && <Alert color="red">{fault}</Alert>}
        <Group justify="space-between">
          <Button variant="default" onClick={onBack}>
            {t.imports.otherFile}
          </Button>
          <Button onClick={onCheck} disabled={fault !== undefined} loading={busy}>
            {t.imports.check}
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}
