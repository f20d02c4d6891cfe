// What the import of contacts shows about topics and consent. `texts/index.ts` loads the texts of topics with that page.
import { Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { Topic } from '../../api/api-types.ts';
import { t } from '../../texts/index.ts';
import { DateTimeField } from '../../ui/date-time-field.tsx';

const PREFIX = 'topic:';
const consentColumns = ['consentAt', 'consentIp', 'consentSource', 'consentText'] as const;

/** What columns of topics and consent become, for a list of targets. */
export const consentTargets = (topics: Topic[]): { value: string; label: string }[] => [
  ...topics.map(({ key, name }) => ({ value: `${PREFIX}${key}`, label: t.topics.importTopic(name) })),
  ...consentColumns.map((value) => ({ value, label: t.topics.importColumns[value] })),
];

/** Returns the target of a column that is named like one of consent; the API takes any case. */
export function guessConsentTarget(column: string, topics: Topic[]): string | undefined {
  const name = column.trim().toLowerCase();
  const topic = topics.find(({ id, key }) => name === PREFIX + key || name === PREFIX + id);
  return topic ? PREFIX + topic.key : consentColumns.find((one) => one.toLowerCase() === name);
}

export const isConsentTarget = (target: string): boolean =>
  target.startsWith(PREFIX) || consentColumns.some((one) => one === target);

/** Consent of all rows of an import. */
export interface ImportConsent {
  isGiven: boolean;
  /** A local time. */
  at: string;
  source: string;
  text: string;
  note: string;
  /** Sends no confirmation emails. */
  isConfirmed: boolean;
}

export const noConsent: ImportConsent = { isGiven: false, at: '', source: '', text: '', note: '', isConfirmed: false };

/** The fields of the API's form. */
export function consentFields({ isGiven, at, isConfirmed, ...texts }: ImportConsent): Record<string, string> {
  const written = Object.entries({ at: at && new Date(at).toISOString(), ...texts })
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([, text]) => text !== '');
  const fields: Record<string, string> = {};
  if (isGiven && written.length > 0) fields.consent = JSON.stringify(Object.fromEntries(written));
  if (isConfirmed) fields.confirmation = 'SKIP';
  return fields;
}

interface ImportConsentProps {
  value: ImportConsent;
  onChange(value: ImportConsent): void;
  /** A column becomes a topic. */
  hasTopics: boolean;
}

/** Asks for the consent of all rows, and whether subscriptions are confirmed already. */
export function ImportConsentFields({ value, onChange, hasTopics }: ImportConsentProps) {
  const change = (part: Partial<ImportConsent>) => onChange({ ...value, ...part });
  const text = (name: 'source' | 'text' | 'note') => ({
    value: value[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => change({ [name]: currentTarget.value }),
  });
  return (
    <>
      <Switch
        label={t.topics.importConsent}
        description={t.topics.importConsentHint}
        checked={value.isGiven}
        onChange={(event) => change({ isGiven: event.currentTarget.checked })}
      />
      {value.isGiven && (
        <Stack maw={420} role="group" aria-label={t.topics.importConsent}>
          <DateTimeField label={t.topics.importColumns.consentAt} value={value.at} onChange={(at) => change({ at })} />
          <TextInput
            label={t.topics.importColumns.consentSource}
            placeholder={t.topics.importSourceExample}
            maxLength={500}
            {...text('source')}
          />
          <Textarea
            label={t.topics.importColumns.consentText}
            maxLength={5_000}
            autosize
            minRows={2}
            maxRows={8}
            {...text('text')}
          />
          <TextInput label={t.topics.importNote} maxLength={500} {...text('note')} />
        </Stack>
      )}
      {(hasTopics || value.isConfirmed) && (
        <Switch
          label={t.topics.importConfirmed}
          description={t.topics.importConfirmedHint}
          checked={value.isConfirmed}
          onChange={(event) => change({ isConfirmed: event.currentTarget.checked })}
        />
      )}
    </>
  );
}

/** Says how many rows changed nothing because the contact withdrew later; nothing without any. */
export const KeptUnsubscribed = ({ count }: { count: number }) =>
  count > 0 ? <Text size="sm">{t.topics.importKept(count)}</Text> : null;
