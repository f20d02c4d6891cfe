import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { unwrap } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';
import { t } from '../texts/index.ts';

interface ContactSelectProps {
  label: string;
  description?: string;
  value: string | null;
  onChange(id: string | null): void;
  required?: boolean;
}

/** Finds a contact by a part of its name or address. */
export function ContactSelect({ label, description, value, onChange, required = false }: ContactSelectProps) {
  const { client, key } = useApi();
  const [typed, setTyped] = useState('');
  const [query] = useDebouncedValue(typed.trim(), 250);
  const found = useQuery({
    queryKey: key('contacts', 'people', query),
    queryFn: () => unwrap(client.GET('/contacts', { params: { query: { query: query || undefined, limit: 10 } } })),
    placeholderData: keepPreviousData,
  });
  const chosen = useQuery({
    queryKey: key('contact', value),
    queryFn: () => unwrap(client.GET('/contacts/{id}', { params: { path: { id: value ?? '' } } })),
    enabled: value !== null,
  });
  const listed = found.data?.data ?? [];
  const missing = chosen.data && !listed.some(({ id }) => id === value) ? [chosen.data] : [];
  return (
    <Select
      label={label}
      description={description}
      placeholder={t.contactLists.search}
      // The field is empty until the chosen contact is loaded.
      required={required && value === null}
      withAsterisk={required}
      clearable={!required}
      data={[...listed, ...missing].map(({ id, email }) => ({ value: id, label: email }))}
      value={value}
      onChange={onChange}
      onSearchChange={setTyped}
      searchable
      filter={({ options }) => options}
      nothingFoundMessage={t.contactLists.nobodyFound}
    />
  );
}
