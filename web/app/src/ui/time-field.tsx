import { Autocomplete, type AutocompleteProps, type OptionsFilter } from '@mantine/core';
import { useEffect, useState } from 'react';

const two = (value: number): string => String(value).padStart(2, '0');

/** Every half hour, and the end of the day. */
const suggestions = [
  ...Array.from({ length: 48 }, (_, half) => `${two(Math.floor(half / 2))}:${half % 2 ? '30' : '00'}`),
  '24:00',
];

/** Reads `9`, `9:30`, `930` and `21.15` as times of day. Anything else stays as it is. */
export function readTime(text: string): string {
  const [, hours, minutes = '00'] = /^\s*(\d{1,2})\s*(?:[:.h]?\s*(\d{2}))?\s*$/.exec(text) ?? [];
  if (hours === undefined) return text.trim();
  const isTime = (Number(hours) < 24 && Number(minutes) < 60) || (Number(hours) === 24 && Number(minutes) === 0);
  return isTime ? `${two(Number(hours))}:${minutes}` : text.trim();
}

interface TimeFieldProps extends Omit<AutocompleteProps, 'data' | 'value' | 'onChange'> {
  value: string;
  onChange(time: string): void;
}

/** A whole time hides none of the others. */
const filter: OptionsFilter = ({ options, search }) =>
  isWhole(search) ? options : options.filter((option) => 'value' in option && option.value.startsWith(search.trim()));

const isWhole = (text: string): boolean => /^\d\d:\d\d$/.test(text);

/** A time of day on the 24-hour clock: typed, or chosen from the list. */
export function TimeField({ value, onChange, ...props }: TimeFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <Autocomplete
      {...props}
      value={text}
      // Half a time is kept here until the rest is typed.
      onChange={(typed) => {
        setText(typed);
        if (typed === '' || isWhole(typed)) onChange(typed);
      }}
      onBlur={() => {
        const time = readTime(text);
        setText(time);
        if (time !== value) onChange(time);
      }}
      data={suggestions}
      filter={filter}
      maxLength={8}
      placeholder="09:00"
    />
  );
}
