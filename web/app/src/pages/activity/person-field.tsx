import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';

/** Finds a contact by address, to show only what that person did. */
export function PersonField({ onFound }: { onFound(contactId: string): void }) {
  const { client } = useApi();
  const form = useForm({ initialValues: { email: '' } });
  const find = useAction({
    run: (search: string) => unwrap(client.GET('/contacts', { params: { query: { search, limit: 20 } } })),
    onDone: ({ data }, search) => {
      const found = data.find((contact) => contact.email.toLowerCase() === search.toLowerCase());
      const [only, ...others] = data;
      const match = found ?? (others.length === 0 ? only : undefined);
      if (match) onFound(match.id);
      else form.setFieldError('email', t.activity.noPerson);
    },
  });
  return (
    <form
      onSubmit={form.onSubmit(({ email }) => {
        if (email.trim() !== '') find.mutate(email.trim());
      })}
    >
      <Group gap="xs" align="flex-start">
        <TextInput
          label={t.activity.person}
          placeholder={t.activity.personHint}
          type="search"
          maxLength={320}
          {...form.getInputProps('email')}
        />
        <Button type="submit" variant="default" className="beside-field" loading={find.isPending}>
          {t.common.search}
        </Button>
      </Group>
    </form>
  );
}
