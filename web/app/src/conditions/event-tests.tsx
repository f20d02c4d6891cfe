import { ActionIcon, Autocomplete, Box, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import { type EventTest, type Filter, operatorLabel, testOperators, withOperator } from './model.ts';
import { ValueField } from './value-field.tsx';

const MAX_TESTS = 5;
/** What every event of an email has. */
const mailKeys = ['campaignId', 'link', 'subject', 'templateId'];

interface EventTestsProps {
  filter: Filter;
  onChange(filter: Filter): void;
  readOnly: boolean;
}

/** Tests of the data of one event, all of which must hold. */
export function EventTests({ filter, onChange, readOnly }: EventTestsProps) {
  const { where = [] } = filter;
  const change = (tests: EventTest[]) => onChange({ ...filter, where: tests.length > 0 ? tests : undefined });
  const isMail = /^(event\.)?email\./.test(filter.field);
  const campaignId = where.find(({ key }) => key === 'campaignId')?.value;
  if (readOnly && where.length === 0) return null;
  return (
    <Stack gap={6} flex="1 1 100%">
      {where.map((test, at) => (
        // Tests have no id.
        <TestRow
          key={at}
          test={test}
          suggestions={isMail ? mailKeys : []}
          campaignId={typeof campaignId === 'string' ? campaignId : undefined}
          readOnly={readOnly}
          onChange={(next) => change(where.map((old, n) => (n === at ? next : old)))}
          onRemove={() => change(where.filter((_, n) => n !== at))}
        />
      ))}
      {!readOnly && where.length < MAX_TESTS && (
        <Box>
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={14} />}
            onClick={() =>
              change([...where, { key: isMail ? (mailKeys[where.length] ?? '') : '', operator: 'equals', value: '' }])
            }
          >
            {t.conditionTexts.addTest}
          </Button>
        </Box>
      )}
    </Stack>
  );
}

interface TestRowProps {
  test: EventTest;
  suggestions: string[];
  /** The campaign that another test of the event names. */
  campaignId: string | undefined;
  readOnly: boolean;
  onChange(test: EventTest): void;
  onRemove(): void;
}

function TestRow({ test, suggestions, campaignId, readOnly, onChange, onRemove }: TestRowProps) {
  const { key, ...rest } = test;
  // A test is a filter on a field of the event.
  const asFilter: Filter = { field: `data[${JSON.stringify(key)}]`, ...rest };
  const change = ({ operator, value, unit }: Filter) => onChange({ key, operator, value, unit });
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap" className="filter-row">
      <Text size="sm" c="dimmed" pt={8}>
        {t.conditionTexts.where}
      </Text>
      <Group gap="xs" align="flex-start" flex={1} miw={0}>
        <Autocomplete
          aria-label={t.conditionTexts.key}
          placeholder={t.conditionTexts.keyHint}
          readOnly={readOnly}
          data={suggestions}
          value={key}
          onChange={(next) => onChange({ ...test, key: next })}
          flex="1 1 9rem"
        />
        <Select
          aria-label={t.conditionTexts.test}
          data={testOperators.map((value) => ({ value, label: operatorLabel(value) }))}
          value={test.operator}
          onChange={(operator) => operator && change(withOperator(asFilter, operator))}
          allowDeselect={false}
          disabled={readOnly}
          comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          flex="1 1 9rem"
        />
        <Box flex="2 1 11rem">
          {key === 'campaignId' && test.operator === 'equals' ? (
            <CampaignValue test={test} onChange={onChange} readOnly={readOnly} />
          ) : key === 'link' && campaignId !== undefined && test.operator === 'equals' ? (
            <LinkValue test={test} campaignId={campaignId} onChange={onChange} readOnly={readOnly} />
          ) : (
            <ValueField filter={asFilter} onChange={change} readOnly={readOnly} ofEvent />
          )}
        </Box>
      </Group>
      {!readOnly && (
        <ActionIcon variant="subtle" color="gray" size={36} onClick={onRemove} aria-label={t.conditionTexts.removeTest}>
          <IconX size={16} />
        </ActionIcon>
      )}
    </Group>
  );
}

type ValueProps = Pick<TestRowProps, 'test' | 'onChange' | 'readOnly'>;

function CampaignValue({ test, onChange, readOnly }: ValueProps) {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('campaigns', 'choices'),
    queryFn: () => unwrap(client.GET('/campaigns', { params: { query: { pageSize: 100 } } })),
    staleTime: 60_000,
  });
  const value = typeof test.value === 'string' ? test.value : '';
  const choices = (data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isKnown = value === '' || choices.some((choice) => choice.value === value);
  return (
    <Select
      aria-label={t.conditionTexts.campaign}
      placeholder={t.conditionTexts.chooseCampaign}
      data={isKnown ? choices : [...choices, { value, label: value }]}
      value={value === '' ? null : value}
      onChange={(id) => id && onChange({ ...test, value: id })}
      searchable
      allowDeselect={false}
      disabled={readOnly}
    />
  );
}

/** An event has the address that was made for its recipient: of a link with variables, the fixed beginning is compared. */
function linkTest(link: string): Pick<EventTest, 'operator' | 'value'> {
  const start = link.search(/\{[{%]/);
  return start > 0 ? { operator: 'startsWith', value: link.slice(0, start) } : { operator: 'equals', value: link };
}

function LinkValue({ test, campaignId, onChange, readOnly }: ValueProps & { campaignId: string }) {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('campaign-links', campaignId),
    queryFn: () => unwrap(client.GET('/campaigns/{id}/links', { params: { path: { id: campaignId } } })),
    retry: false,
  });
  const links = [...new Set((data?.data ?? []).map(({ link }) => link))];
  return (
    <Autocomplete
      aria-label={t.segments.value}
      readOnly={readOnly}
      data={links}
      value={typeof test.value === 'string' ? test.value : ''}
      onChange={(value) => onChange(links.includes(value) ? { key: test.key, ...linkTest(value) } : { ...test, value })}
    />
  );
}
