import './builder.css';
import { ActionIcon, Box, Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import { unwrap } from '../api/client.ts';
import { useApi, useCustomFields } from '../api/hooks.ts';
import { t } from '../texts/index.ts';
import {
  type Condition,
  contactFieldOptions,
  contactOperatorsOf,
  dataField,
  type FieldType,
  type Filter,
  type Group as FilterGroup,
  fieldOptions,
  inputOf,
  kindOf,
  newCondition,
  newFilter,
  operatorLabel,
  operatorsFor,
  operatorsOf,
  withField,
  withOperator,
} from './model.ts';
import { ValueField } from './value-field.tsx';

const EventTests = lazy(() => import('./event-tests.tsx').then(({ EventTests }) => ({ default: EventTests })));

const MAX_DEPTH = 10;

interface BuilderProps {
  value: Condition;
  onChange(value: Condition): void;
  readOnly?: boolean;
  /** A segment cannot refer to itself. */
  ownSegmentId?: string;
  /** For emails, which know the contact only: no events, no segments, no spans of time. */
  contactOnly?: boolean;
}

/** What the lists of fields and operators offer. */
interface Choices {
  options: ReturnType<typeof fieldOptions>;
  operators: typeof operatorsOf;
  /** Of custom fields, by the name of the filter's field. */
  types: ReadonlyMap<string, FieldType>;
}

/** Edits a whole condition tree: groups in groups, every operator with a fitting input. */
export function ConditionBuilder(props: BuilderProps) {
  const { value, onChange, readOnly = false, ownSegmentId, contactOnly = false } = props;
  const { client, key } = useApi();
  const fields = useCustomFields();
  const types = useFieldTypes();
  const events = useQuery({
    queryKey: key('event-names'),
    queryFn: () => unwrap(client.GET('/events/names')),
    staleTime: 60_000,
    enabled: !contactOnly,
  });
  const segments = useQuery({
    queryKey: key('segments'),
    queryFn: () => unwrap(client.GET('/segments')),
    enabled: !contactOnly,
  });
  const topics = useQuery({
    queryKey: key('topics', { archived: false }),
    queryFn: () => unwrap(client.GET('/topics', { params: { query: { archived: false } } })),
    enabled: !contactOnly,
  });
  const options = useMemo(
    () =>
      contactOnly
        ? contactFieldOptions(fields, usedFields(value))
        : fieldOptions({
            fields,
            events: (events.data?.names ?? []).filter(({ reserved }) => !reserved).map(({ name }) => name),
            segments: (segments.data ?? []).filter(({ id }) => id !== ownSegmentId),
            topics: topics.data ?? [],
            used: usedFields(value),
          }),
    [fields, events.data, segments.data, topics.data, value, ownSegmentId, contactOnly],
  );
  const choices: Choices = { options, operators: contactOnly ? contactOperatorsOf : operatorsOf, types };
  return <Tree value={value} onChange={onChange} choices={choices} depth={1} readOnly={readOnly} />;
}

const usedFields = ({ groups }: Condition): string[] =>
  groups.flatMap(({ filters, conditions }) => [
    ...filters.map(({ field }) => field),
    ...(conditions ? usedFields(conditions) : []),
  ]);

const replaced = <T,>(list: T[], index: number, item: T): T[] => list.map((old, at) => (at === index ? item : old));
const removed = <T,>(list: T[], index: number): T[] => list.filter((_, at) => at !== index);

interface TreeProps {
  value: Condition;
  onChange(value: Condition): void;
  choices: Choices;
  depth: number;
  readOnly: boolean;
}

function Tree({ value, onChange, choices, depth, readOnly }: TreeProps) {
  const { logic, groups } = value;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text size="sm">{t.segments.matchPrefix}</Text>
        <Select
          aria-label={t.segments.logic}
          size="xs"
          w={90}
          allowDeselect={false}
          disabled={readOnly}
          value={logic}
          onChange={(next) => onChange({ ...value, logic: next === 'OR' ? 'OR' : 'AND' })}
          data={[
            { value: 'AND', label: t.segments.all },
            { value: 'OR', label: t.segments.any },
          ]}
        />
        <Text size="sm">{t.segments.matchSuffix}</Text>
      </Group>
      {groups.map((group, index) => (
        <GroupBox
          // Groups have no id; a removed one shifts the others.
          key={index}
          group={group}
          index={index}
          onChange={(next) => onChange({ ...value, groups: replaced(groups, index, next) })}
          {...(groups.length > 1 && { onRemove: () => onChange({ ...value, groups: removed(groups, index) }) })}
          choices={choices}
          depth={depth}
          readOnly={readOnly}
        />
      ))}
      {!readOnly && (
        <Box>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => onChange({ ...value, groups: [...groups, { filters: [newFilter()] }] })}
          >
            {t.segments.addGroup}
          </Button>
        </Box>
      )}
    </Stack>
  );
}

interface GroupBoxProps {
  group: FilterGroup;
  index: number;
  onChange(group: FilterGroup): void;
  onRemove?: () => void;
  choices: Choices;
  depth: number;
  readOnly: boolean;
}

function GroupBox({ group, index, onChange, onRemove, choices, depth, readOnly }: GroupBoxProps) {
  const { filters, conditions } = group;
  return (
    <Paper withBorder p="sm" radius="md" role="group" aria-label={t.segments.group(index + 1)} className="filter-group">
      <Group justify="space-between" mb="xs">
        <Text size="sm" fw={600}>
          {t.segments.group(index + 1)}
          <Text span c="dimmed" fw={400} ml={6} size="sm">
            {t.segments.groupText}
          </Text>
        </Text>
        {onRemove && !readOnly && (
          <ActionIcon variant="subtle" color="gray" onClick={onRemove} aria-label={t.segments.removeGroup(index + 1)}>
            <IconTrash size={16} />
          </ActionIcon>
        )}
      </Group>
      <Stack gap="xs">
        {filters.map((filter, at) => (
          <FilterRow
            // Filters have no id.
            key={at}
            filter={filter}
            choices={choices}
            readOnly={readOnly}
            onChange={(next) => onChange({ ...group, filters: replaced(filters, at, next) })}
            {...((filters.length > 1 || conditions) && {
              onRemove: () => onChange({ ...group, filters: removed(filters, at) }),
            })}
          />
        ))}
        {conditions && (
          <Box className="nested">
            <Group justify="space-between">
              <Text size="sm" c="dimmed">
                {t.segments.nested}
              </Text>
              {!readOnly && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t.segments.removeNested}
                  onClick={() =>
                    onChange({ filters: filters.length > 0 ? filters : [newFilter()], conditions: undefined })
                  }
                >
                  <IconTrash size={16} />
                </ActionIcon>
              )}
            </Group>
            <Tree
              value={conditions}
              onChange={(next) => onChange({ ...group, conditions: next })}
              choices={choices}
              depth={depth + 1}
              readOnly={readOnly}
            />
          </Box>
        )}
        {!readOnly && (
          <Group gap="xs">
            <Button
              size="xs"
              variant="subtle"
              leftSection={<IconPlus size={14} />}
              onClick={() => onChange({ ...group, filters: [...filters, newFilter()] })}
            >
              {t.segments.addFilter}
            </Button>
            {!conditions && depth < MAX_DEPTH && (
              <Button
                size="xs"
                variant="subtle"
                leftSection={<IconPlus size={14} />}
                onClick={() => onChange({ ...group, conditions: { ...newCondition(), logic: 'OR' } })}
              >
                {t.segments.addNested}
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

/** The type of each custom field, as filters name the fields. */
function useFieldTypes(): ReadonlyMap<string, FieldType> {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('contact-fields'),
    queryFn: () => unwrap(client.GET('/contacts/fields')),
    staleTime: 60_000,
  });
  return useMemo(
    () =>
      new Map(
        (data?.fields ?? [])
          .filter(({ isCustom }) => isCustom)
          .map(({ field, type }) => [dataField(field.replace(/^data\./, '')), type]),
      ),
    [data],
  );
}

interface FilterRowProps {
  filter: Filter;
  choices: Choices;
  readOnly: boolean;
  onChange(filter: Filter): void;
  onRemove?: () => void;
}

function FilterRow({ filter, choices, readOnly, onChange, onRemove }: FilterRowProps) {
  const kind = kindOf(filter.field, filter.operator);
  const isDate = kind === 'date' || choices.types.get(filter.field) === 'date';
  const label = (operator: string) => (isDate && t.segments.dateOperators[operator]) || operatorLabel(operator);
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap" className="filter-row">
      <Group gap="xs" align="flex-start" flex={1} miw={0}>
        <Select
          aria-label={t.segments.field}
          data={choices.options}
          value={filter.field}
          onChange={(field) => field && onChange(withField(filter, field, choices.types.get(field), choices.operators))}
          comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          searchable
          allowDeselect={false}
          disabled={readOnly}
          flex="1 1 11rem"
          maxDropdownHeight={320}
        />
        <Select
          aria-label={t.segments.operator}
          data={operatorsFor(filter, choices.types.get(filter.field), choices.operators).map((value) => ({
            value,
            label: label(value),
          }))}
          comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          value={filter.operator}
          onChange={(operator) => operator && onChange(withOperator(filter, operator))}
          allowDeselect={false}
          disabled={readOnly}
          flex="1 1 9rem"
        />
        {inputOf(kind, filter.operator) !== 'none' || kind === 'event' ? (
          <Box flex="2 1 11rem">
            <ValueField filter={filter} onChange={onChange} readOnly={readOnly} />
          </Box>
        ) : (
          <Box flex="2 1 0" visibleFrom="sm" />
        )}
        {kind === 'event' && (
          <Suspense>
            <EventTests filter={filter} onChange={onChange} readOnly={readOnly} />
          </Suspense>
        )}
      </Group>
      {onRemove && !readOnly && (
        <ActionIcon variant="subtle" color="gray" size={36} onClick={onRemove} aria-label={t.segments.removeFilter}>
          <IconX size={16} />
        </ActionIcon>
      )}
    </Group>
  );
}
