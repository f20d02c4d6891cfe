import { Alert, Button, Group, Select, Stack, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Topic } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCustomFields } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import {
  consentTargets,
  guessConsentTarget,
  type ImportConsent,
  ImportConsentFields,
  isConsentTarget,
} from '../topics/import-consent.tsx';
import { useTopics } from '../topics/queries.ts';
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

/** The type of each column; without one, values are converted by their look. */
export type ColumnTypes = Record<string, CellType>;
export type CellType = 'string' | 'number' | 'boolean' | 'date';

/** `First Name` and `first_name` are the field `firstName`. */
const plain = (name: string): string => name.toLowerCase().replace(/[\s_.-]+/g, '');

/** A column named like a field becomes that field, whatever the case, blanks and underscores. */
export function guessMapping(columns: string[], fields: string[], topics: Topic[]): Mapping {
  const known = new Map(fields.map((field) => [plain(field), field]));
  const isEmail = (name: string) => /^e-?mail([ _-]?address)?$/i.test(name.trim());
  const emailColumn = columns.find(isEmail) ?? columns.find((name) => /mail/i.test(name));
  return Object.fromEntries(
    columns.map((name) => [
      name,
      name === emailColumn
        ? EMAIL
        : /^subscribed$/i.test(name.trim())
          ? SUBSCRIBED
          : (guessConsentTarget(name, topics) ?? known.get(plain(name)) ?? (name.trim() || null)),
    ]),
  );
}

interface ColumnsStepProps {
  chosen: Chosen;
  mapping: Mapping;
  onChange(mapping: Mapping): void;
  types: ColumnTypes;
  onTypes(types: ColumnTypes): void;
  segmentId: string | null;
  onSegment(segmentId: string | null): void;
  subscribed: boolean;
  onSubscribed(subscribed: boolean): void;
  consent: ImportConsent;
  onConsent(consent: ImportConsent): void;
  busy: boolean;
  onCheck(): void;
  onBack(): void;
}

/** Maps columns to fields. */
export function ColumnsStep(props: ColumnsStepProps) {
  const { chosen, mapping, onChange, types, onTypes, subscribed, onSubscribed, busy, onCheck, onBack } = props;
  const custom = useCustomFields();
  const known = useKnownTypes();
  const topics = useTopics().data ?? [];
  const targets = Object.values(mapping).filter((target): target is string => target !== null);
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  const fault = !targets.includes(EMAIL)
    ? t.imports.needsEmail
    : twice !== undefined
      ? t.imports.twice(twice === EMAIL ? t.imports.email : twice)
      : undefined;
  const optionsFor = (column: string) => {
    const own = column.trim();
    const ofConsent = consentTargets(topics);
    const isNew = own !== '' && ![EMAIL, SUBSCRIBED, ...custom, ...ofConsent.map(({ value }) => value)].includes(own);
    return [
      { value: EMAIL, label: t.imports.email },
      { value: SUBSCRIBED, label: t.imports.subscribed },
      ...(isNew ? [{ value: own, label: t.imports.newField(own) }] : []),
      ...ofConsent,
      ...custom
        .filter((field) => !ofConsent.some(({ value }) => value === field))
        .map((field) => ({ value: field, label: field })),
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
          {
            id: 'type',
            header: t.contactLists.importType,
            cell: ({ name }) => {
              const target = mapping[name];
              if (!target || target === EMAIL || target === SUBSCRIBED || isConsentTarget(target)) return '—';
              return (
                <Select
                  aria-label={t.contactLists.importTypeOf(name)}
                  data={Object.entries(t.contactLists.importTypes).map(([value, label]) => ({ value, label }))}
                  value={types[name] ?? known.get(target) ?? 'auto'}
                  onChange={(value) => onTypes({ ...types, [name]: value as CellType })}
                  allowDeselect={false}
                  miw={120}
                />
              );
            },
          },
        ]}
      />
      <Stack p="lg">
        <SegmentChoice value={props.segmentId} onChange={props.onSegment} file={chosen.file.name} />
        <Switch
          label={t.imports.subscribeNew}
          description={t.imports.subscribeNewHint}
          checked={subscribed}
          onChange={(event) => onSubscribed(event.currentTarget.checked)}
        />
        <ImportConsentFields
          value={props.consent}
          onChange={props.onConsent}
          hasTopics={targets.some((target) => target.startsWith('topic:'))}
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

/** The type of each custom field, by its name. */
export function useKnownTypes(): ReadonlyMap<string, CellType> {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('contact-fields'),
    queryFn: () => unwrap(client.GET('/contacts/fields')),
    staleTime: 60_000,
  });
  return useMemo(
    () => new Map((data?.fields ?? []).map(({ field, type }) => [field.replace(/^data\./, ''), type])),
    [data],
  );
}

const NEW = 'new';

interface SegmentChoiceProps {
  value: string | null;
  onChange(segmentId: string | null): void;
  file: string;
}

/** A static segment for everyone in the file; it can be created here. */
function SegmentChoice({ value, onChange, file }: SegmentChoiceProps) {
  const { client, key } = useApi();
  const segments = useQuery({ queryKey: key('segments'), queryFn: () => unwrap(client.GET('/segments')) });
  const create = useAction({
    run: () =>
      unwrap(
        client.POST('/segments', {
          body: { name: t.contactLists.newSegmentName(file.replace(/\.\w+$/, '')).slice(0, 255), type: 'STATIC' },
        }),
      ),
    changes: [key('segments')],
    onDone: ({ id }) => onChange(id),
  });
  const choices = (segments.data ?? []).filter(({ type }) => type === 'STATIC');
  return (
    <Select
      label={t.contactLists.importSegment}
      description={t.contactLists.importSegmentHint}
      placeholder={t.contactLists.importNoSegment}
      data={[
        ...choices.map(({ id, name }) => ({ value: id, label: name })),
        { value: NEW, label: t.contactLists.createSegment },
      ]}
      value={value}
      onChange={(chosen) => (chosen === NEW ? create.mutate() : onChange(chosen))}
      clearable
      searchable
      maw={420}
    />
  );
}
