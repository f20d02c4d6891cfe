import { Select, type SelectProps } from '@mantine/core';
import { t } from '../texts/index.ts';

const zones: readonly string[] = Intl.supportedValuesOf('timeZone');

/** More than fit, so that scrolling shows what the list is like; the search finds the rest. */
const MOST_SHOWN = 60;

const named = (value: string) => ({ value, label: value.replaceAll('_', ' ') });

/** A time zone, found by typing a part of its name. */
export function ZoneField({ value, ...props }: Omit<SelectProps, 'data'>) {
  // Browsers leave out UTC and older names.
  const all = [...new Set(['UTC', ...zones, ...(value ? [value] : [])])];
  return (
    <Select
      clearable
      {...props}
      value={value ?? null}
      searchable
      limit={MOST_SHOWN}
      data={all.map(named)}
      nothingFoundMessage={t.pickers.nothingFound}
    />
  );
}
