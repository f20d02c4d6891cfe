import { Autocomplete, Group, NumberInput, Select, TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';
import { valueText } from '../format.ts';
import { t } from '../texts/index.ts';
import { DateField } from '../ui/date-field.tsx';
import { type Filter, fieldName, inputOf, kindOf, units } from './model.ts';

interface ValueFieldProps {
  filter: Filter;
  onChange(filter: Filter): void;
  readOnly: boolean;
  /** The field is one of an event, not of contacts: their values are no suggestions. */
  ofEvent?: boolean;
}

type Scalar = string | number | boolean;
const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value);

/** The input that fits the operator. Values of data are suggested from what contacts have. */
export function ValueField({ filter, onChange, readOnly, ofEvent = false }: ValueFieldProps) {
  const kind = kindOf(filter.field, filter.operator);
  const input = inputOf(kind, filter.operator);
  const suggestions = useSuggestions(
    filter.field,
    !ofEvent && filter.field.startsWith('data') && ['scalar', 'text', 'list'].includes(input),
  );
  const set = (value: unknown) => onChange({ ...filter, value });
  switch (input) {
    case 'none':
    case 'span':
      return <SpanField filter={filter} onChange={onChange} readOnly={readOnly} hasSpan={input === 'span'} />;
    case 'days':
      return (
        <NumberInput
          aria-label={t.segments.value}
          min={0}
          max={366}
          allowDecimal={false}
          readOnly={readOnly}
          value={typeof filter.value === 'number' ? filter.value : ''}
          onChange={(value) => set(value === '' ? undefined : Number(value))}
          suffix={` ${filter.operator === 'anniversaryWithin' ? t.conditionTexts.days : t.conditionTexts.daysAgo}`}
          w={160}
        />
      );
    case 'flag':
      return (
        <Select
          aria-label={t.segments.value}
          allowDeselect={false}
          disabled={readOnly}
          value={String(filter.value)}
          onChange={(value) => set(value === 'true')}
          data={[
            { value: 'true', label: t.common.yes },
            { value: 'false', label: t.common.no },
          ]}
        />
      );
    case 'date':
      return (
        <DateField
          aria-label={t.segments.value}
          readOnly={readOnly}
          value={valueText(filter.value).slice(0, 10)}
          onChange={set}
        />
      );
    case 'list':
      return (
        <TagsInput
          aria-label={t.segments.values}
          placeholder={t.segments.valuesHint}
          disabled={readOnly}
          data={suggestions.map(valueText)}
          value={(Array.isArray(filter.value) ? filter.value : []).map(valueText)}
          onChange={(texts) => set(texts.map((text) => (kind === 'data' ? typed(text, suggestions) : text)))}
        />
      );
    default:
      return (
        <Autocomplete
          aria-label={t.segments.value}
          readOnly={readOnly}
          data={[...new Set(suggestions.map(valueText))]}
          value={valueText(filter.value)}
          onChange={(text) => set(input === 'scalar' ? typed(text, suggestions) : text)}
          maxDropdownHeight={260}
        />
      );
  }
}

/** Distinct values that contacts have. */
function useSuggestions(field: string, enabled: boolean): Scalar[] {
  const { client, key } = useApi();
  const name = fieldName(field);
  const { data } = useQuery({
    queryKey: key('field-values', name),
    queryFn: () =>
      unwrap(
        client.GET('/contacts/fields/{field}/values', { params: { path: { field: name }, query: { limit: 100 } } }),
      ),
    enabled,
    staleTime: 60_000,
    retry: false,
  });
  return (data?.values ?? []).filter(isScalar);
}

/**
 * Conditions distinguish 5 from "5". A text that is the value of a contact gets that value's type; otherwise numbers and
 * true or false are read as such where the known values are of that type, or none is known.
 */
export function typed(text: string, known: Scalar[]): Scalar {
  const same = known.find((value) => valueText(value) === text);
  if (same !== undefined) return same;
  const types = new Set(known.map((value) => typeof value));
  const mayBe = (type: 'number' | 'boolean') => types.size === 0 || types.has(type);
  if (mayBe('number') && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text.trim())) return Number(text);
  if (mayBe('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** A time span, and how often an event must have happened. */
function SpanField({ filter, onChange, readOnly, hasSpan }: ValueFieldProps & { hasSpan: boolean }) {
  const isEvent = kindOf(filter.field, filter.operator) === 'event';
  return (
    <Group gap="xs" wrap="wrap">
      {hasSpan && (
        <>
          <NumberInput
            aria-label={t.segments.value}
            min={1}
            allowDecimal={false}
            readOnly={readOnly}
            value={typeof filter.value === 'number' ? filter.value : ''}
            onChange={(value) => onChange({ ...filter, value: value === '' ? undefined : Number(value) })}
            w={90}
          />
          <Select
            aria-label={t.segments.unit}
            allowDeselect={false}
            disabled={readOnly}
            value={filter.unit ?? 'days'}
            onChange={(unit) => onChange({ ...filter, unit: unit ?? 'days' })}
            data={units.map((unit) => ({ value: unit, label: t.segments.units[unit] }))}
            w={120}
          />
        </>
      )}
      {isEvent && (
        <NumberInput
          aria-label={t.segments.times}
          prefix="≥ "
          suffix=" ×"
          min={1}
          allowDecimal={false}
          readOnly={readOnly}
          value={filter.count ?? 1}
          onChange={(value) => onChange({ ...filter, count: value === '' || value === 1 ? undefined : Number(value) })}
          w={90}
        />
      )}
    </Group>
  );
}
