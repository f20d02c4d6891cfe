import { ActionIcon, Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Contact } from '../../api/types.ts';
import { valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { Panel } from '../../ui/page.tsx';

interface Entry {
  key: number;
  name: string;
  value: string;
  /** The stored value, sent back unchanged as long as its text is. */
  stored?: unknown;
}

let keys = 0;

const entriesOf = (data: Record<string, unknown>): Entry[] =>
  Object.entries(data)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, stored]) => ({ key: ++keys, name, value: valueText(stored), stored }));

/** Reads numbers, booleans, lists and objects as such, and everything else as text. */
function parse({ value, stored }: Entry): unknown {
  if (stored !== undefined && valueText(stored) === value) return stored;
  const text = value.trim();
  if (!/^(-?\d|true$|false$|\[|\{)/.test(text)) return value;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'number' && String(parsed) !== text ? value : parsed;
  } catch {
    return value;
  }
}

export function DataEditor({ contact }: { contact: Contact }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const [entries, setEntries] = useState(() => entriesOf(contact.data));
  const [fault, setFault] = useState<string>();
  useEffect(() => setEntries(entriesOf(contact.data)), [contact.data]);
  const changed = JSON.stringify(dataOf(entries)) !== JSON.stringify(dataOf(entriesOf(contact.data)));
  useWarnBeforeLeaving(changed);
  const save = useAction({
    run: (data: Record<string, unknown>) =>
      unwrap(client.PATCH('/contacts/{id}', { params: { path: { id: contact.id } }, body: { data } })),
    done: () => t.contacts.saved,
    changes: [key('contact', contact.id), key('contacts'), key('contact-fields')],
    quiet: true,
  });
  const update = (target: Entry, change: Partial<Entry>) =>
    setEntries(entries.map((entry) => (entry === target ? { ...entry, ...change } : entry)));
  const submit = () => {
    const names = entries.map(({ name }) => name.trim());
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (names.includes('')) return setFault(t.contacts.namelessField);
    if (repeated !== undefined) return setFault(t.contacts.duplicateField(repeated));
    setFault(undefined);
    // A field set to null is removed.
    const removed = Object.keys(contact.data).filter((name) => !names.includes(name));
    save.mutate({ ...dataOf(entries), ...Object.fromEntries(removed.map((name) => [name, null])) });
  };
  return (
    <Panel title={t.contacts.data} description={t.contacts.dataText}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="xs">
          {(fault || save.error) && <Alert color="red">{fault ?? messageOf(save.error)}</Alert>}
          {entries.length === 0 && <Text c="dimmed">{t.contacts.noData}</Text>}
          {entries.map((entry) => (
            <Group key={entry.key} gap="xs" wrap="nowrap">
              <TextInput
                aria-label={t.contacts.fieldName}
                value={entry.name}
                readOnly={!write || entry.stored !== undefined}
                onChange={(event) => update(entry, { name: event.currentTarget.value })}
                flex="1 1 42%"
                variant={entry.stored === undefined ? 'default' : 'filled'}
              />
              <TextInput
                aria-label={t.contacts.valueOf(entry.name)}
                value={entry.value}
                readOnly={!write}
                onChange={(event) => update(entry, { value: event.currentTarget.value })}
                flex="1 1 58%"
              />
              {write && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t.contacts.removeField(entry.name)}
                  onClick={() => setEntries(entries.filter((other) => other !== entry))}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              )}
            </Group>
          ))}
          {write && (
            <>
              <Text size="xs" c="dimmed">
                {t.contacts.valueHint}
              </Text>
              <Group justify="space-between">
                <Button
                  variant="default"
                  size="sm"
                  leftSection={<IconPlus size={16} />}
                  onClick={() => setEntries([...entries, { key: ++keys, name: '', value: '' }])}
                >
                  {t.contacts.addField}
                </Button>
                <Button type="submit" size="sm" disabled={!changed} loading={save.isPending}>
                  {t.common.save}
                </Button>
              </Group>
            </>
          )}
        </Stack>
      </form>
    </Panel>
  );
}

const dataOf = (entries: Entry[]): Record<string, unknown> =>
  Object.fromEntries(entries.map((entry) => [entry.name.trim(), parse(entry)]));
