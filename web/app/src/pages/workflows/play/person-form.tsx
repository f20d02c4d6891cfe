import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  SegmentedControl,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useCustomFields } from '../../../api/hooks.ts';
import { t } from '../../../texts/index.ts';
import { ContactSelect } from '../../../ui/contact-select.tsx';
import { type FieldRow, newField, type Scenario } from './scenario.ts';

interface PersonFormProps {
  scenario: Scenario;
  onChange(change: Partial<Scenario>): void;
}

const zones: string[] = Intl.supportedValuesOf('timeZone');

/** A contact of the project, or one that does not exist. */
export function PersonForm({ scenario, onChange }: PersonFormProps) {
  const { person, email, subscribed, timezone, fields } = scenario;
  const names = useCustomFields();
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t.playback.person}
        value={person}
        onChange={(value) => onChange({ person: value as Scenario['person'] })}
        data={[
          { value: 'invented', label: t.playback.invented },
          { value: 'stored', label: t.playback.stored },
        ]}
      />
      {person === 'stored' ? (
        <ContactSelect
          label={t.playback.contact}
          required
          value={scenario.contactId}
          onChange={(contactId) => onChange({ contactId })}
        />
      ) : (
        <>
          <TextInput
            label={t.playback.email}
            type="email"
            required
            value={email}
            onChange={(event) => onChange({ email: event.currentTarget.value })}
          />
          <Autocomplete
            label={t.playback.timezone}
            placeholder={t.playback.timezoneHint}
            data={zones}
            limit={20}
            value={timezone}
            onChange={(value) => onChange({ timezone: value })}
          />
          <Switch
            label={t.playback.subscribed}
            checked={subscribed}
            onChange={(event) => onChange({ subscribed: event.currentTarget.checked })}
          />
          <FieldRows
            label={t.playback.fields}
            add={t.playback.addField}
            rows={fields}
            names={names}
            onChange={(rows) => onChange({ fields: rows })}
          />
        </>
      )}
    </Stack>
  );
}

interface FieldRowsProps {
  /** Names the rows, also for screen readers. */
  label: string;
  add: string;
  rows: FieldRow[];
  names?: string[];
  onChange(rows: FieldRow[]): void;
}

/** Names and values. A value is read as JSON where it is a number, true, false, a list or an object. */
export function FieldRows({ label, add, rows, names = [], onChange }: FieldRowsProps) {
  const update = (target: FieldRow, change: Partial<FieldRow>) =>
    onChange(rows.map((row) => (row === target ? { ...row, ...change } : row)));
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      {rows.map((row, index) => (
        <Group key={row.key} gap="xs" wrap="nowrap">
          <Autocomplete
            aria-label={t.playback.fieldName(label, index + 1)}
            placeholder={t.playback.name}
            data={names}
            value={row.name}
            onChange={(name) => update(row, { name })}
            flex={1}
          />
          <TextInput
            aria-label={t.playback.fieldValue(label, index + 1)}
            placeholder={t.playback.value}
            value={row.value}
            onChange={(event) => update(row, { value: event.currentTarget.value })}
            flex={1}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t.playback.removeField(row.name || String(index + 1))}
            onClick={() => onChange(rows.filter((other) => other !== row))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...rows, newField()])}
        >
          {add}
        </Button>
      </Group>
    </Stack>
  );
}
