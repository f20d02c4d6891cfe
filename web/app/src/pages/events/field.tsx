import { Badge, Box, Group, SimpleGrid, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import type { FieldUsage } from '../../api/types.ts';
import { shownValue } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { BackLink, TextLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { Figure } from './event.tsx';
import { Coverage } from './events.tsx';
import { DeleteWarning, Uses } from './uses.tsx';

const SHOWN_VALUE = 120;

export function FieldPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const { name } = useParams({ from: '/signed-in/p/$projectId/fields/$name' });
  const path = { params: { path: { field: name } } };
  const usage = useQuery({
    queryKey: key('field', name, 'usage'),
    queryFn: () => unwrap(client.GET('/contacts/fields/{field}/usage', path)),
  });
  const fields = useQuery({
    queryKey: key('contact-fields'),
    queryFn: () => unwrap(client.GET('/contacts/fields')),
  });
  const field = fields.data?.fields.find((each) => each.field === name);
  return (
    <Page
      title={name}
      back={
        <BackLink to="/p/$projectId/events" params={{ projectId }} search={{ tab: 'fields' }}>
          {t.events.fields}
        </BackLink>
      }
      badge={field && <Badge color="gray">{t.events.fieldTypes[field.type] ?? field.type}</Badge>}
      actions={write && field?.isCustom && usage.data && <DeleteFieldButton name={name} usage={usage.data} />}
    >
      <Loaded query={usage}>
        {(loaded) => (
          <Panel title={t.events.usage}>
            <SimpleGrid cols={{ base: 2, sm: 4 }} mb="md">
              <Figure label={t.events.contacts} value={loaded.contactCount} />
              {field && (
                <Box>
                  <Text size="sm" c="dimmed" mb={6}>
                    {t.events.coverage}
                  </Text>
                  <Coverage share={field.coverage} />
                </Box>
              )}
            </SimpleGrid>
            <Uses usage={loaded} />
          </Panel>
        )}
      </Loaded>
      <Values name={name} isCustom={field?.isCustom === true} />
    </Page>
  );
}

function DeleteFieldButton({ name, usage }: { name: string; usage: FieldUsage }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const remove = useAction({
    run: async () => {
      const answer = await unwrap(client.DELETE('/contacts/fields/{field}', { params: { path: { field: name } } }));
      await navigate({ to: '/p/$projectId/events', params: { projectId }, search: { tab: 'fields' } });
      return answer;
    },
    done: ({ deletedFrom }) => t.events.fieldDeleted(name, deletedFrom),
    changes: [key('contact-fields'), key('contacts')],
    quiet: true,
  });
  return (
    <ConfirmButton
      danger
      variant="light"
      label={t.events.delete}
      icon={<IconTrash size={16} />}
      title={t.events.deleteFieldTitle(name)}
      confirm={t.events.delete}
      onConfirm={() => remove.mutateAsync()}
    >
      <DeleteWarning usage={usage}>{t.events.deleteFieldText(usage.contactCount)}</DeleteWarning>
    </ConfirmButton>
  );
}

/** The values of a field; those of a custom one lead to the contacts that have them. */
function Values({ name, isCustom }: { name: string; isCustom: boolean }) {
  const { client, key, projectId } = useApi();
  const values = useQuery({
    queryKey: key('field', name, 'values'),
    queryFn: () => unwrap(client.GET('/contacts/fields/{field}/values', { params: { path: { field: name } } })),
  });
  const { count = 0, limit = 0 } = values.data ?? {};
  const dataKey = name.replace(/^data\./, '');
  return (
    <Panel title={t.events.values} description={values.data && t.events.valuesText(count, limit)}>
      <Loaded query={values}>
        {({ values: all }) =>
          all.length === 0 ? (
            <Text c="dimmed">{t.events.noValues}</Text>
          ) : (
            <Group gap="xs" className="roomy">
              {all.map((value) => {
                const text = shownValue(value);
                const shown = text.slice(0, SHOWN_VALUE) || '“”';
                return isCustom && text ? (
                  <TextLink
                    key={text}
                    to="/p/$projectId/contacts"
                    params={{ projectId }}
                    search={{ fields: { [dataKey]: text } }}
                    className="breakable"
                  >
                    {shown}
                  </TextLink>
                ) : (
                  <span key={text} className="breakable">
                    {shown}
                  </span>
                );
              })}
            </Group>
          )
        }
      </Loaded>
    </Panel>
  );
}
