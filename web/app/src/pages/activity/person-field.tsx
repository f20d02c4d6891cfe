import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';

/** Finds a contact by address, to show only what that person did. */
export function PersonField({ onFound }: { onFound(contactId: string): void }) {
  const { client } = useApi();
  const [email, setEmail] = useState('');
  const [unknown, setUnknown] = useState(false);
  const find = useAction({
    run: (search: string) => unwrap(client.GET('/contacts', { params: { query: { search, limit: 20 } } })),
    onDone: ({ data }, search) => {
      const found = data.find((contact) => contact.email.toLowerCase() === search.toLowerCase());
      const [only, ...others] = data;
      const match = found ?? (others.length === 0 ? only : undefined);
      setUnknown(!match);
      if (match) onFound(match.id);
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (email.trim() !== '') find.mutate(email.trim());
      }}
    >
      <Group gap="xs" align="flex-start">
        <TextInput
          label={t.activity.person}
          placeholder={t.activity.personHint}
          type="search"
          maxLength={320}
          value={email}
          error={unknown && t.activity.noPerson}
          onChange={(event) => {
            setEmail(event.currentTarget.value);
            setUnknown(false);
          }}
        />
        <Button type="submit" variant="default" className="beside-field" loading={find.isPending}>
          {t.common.search}
        </Button>
      </Group>
    </form>
  );
}
