// Says a condition in words.
import { joinList, span, valueText } from '../format.ts';
import { t } from '../texts/index.ts';
import { type Condition, type Filter, fieldLabel, inputOf, kindOf, operatorLabel } from './model.ts';

/** Names of segments by id. */
export type SegmentNames = ReadonlyMap<string, string>;

const none: SegmentNames = new Map();

function fieldText({ field, operator }: Filter, segments: SegmentNames): string {
  if (field.startsWith('segment.')) return segments.get(field.slice('segment.'.length)) ?? t.segments.segment;
  if (kindOf(field, operator) === 'topic') return t.conditionTexts.topic(field.slice('topic.'.length));
  const { fields, mailEvents } = t.segments;
  return (fields as Record<string, string>)[field] ?? mailEvents[field] ?? fieldLabel(field);
}

export function filterText(filter: Filter, segments: SegmentNames = none): string {
  const { field, operator, value, unit } = filter;
  const kind = kindOf(field, operator);
  const operatorText = (kind === 'date' && t.segments.dateOperators[operator]) || operatorLabel(operator);
  return [fieldText(filter, segments), operatorText, shownValue()].filter((part) => part !== '').join(' ');

  function shownValue(): string {
    if (inputOf(kind, operator) === 'none') return '';
    if (unit !== undefined) return typeof value === 'number' ? span(value, unit) : '';
    if (Array.isArray(value)) return joinList(value.map(valueText));
    return typeof value === 'boolean' ? (value ? t.common.yes : t.common.no) : valueText(value);
  }
}

export function conditionText({ logic, groups }: Condition, segments: SegmentNames = none): string {
  const texts = groups.map(({ filters = [], conditions }) => {
    const parts = filters.map((filter) => filterText(filter, segments));
    if (conditions) parts.push(`(${conditionText(conditions, segments)})`);
    return parts.join(` ${t.segments.and} `);
  });
  return texts.join(` ${logic === 'OR' ? t.segments.or : t.segments.and} `);
}
