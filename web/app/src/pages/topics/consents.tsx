import { Button, Group, Text } from '@mantine/core';
import { IconCertificate, IconPrinter } from '@tabler/icons-react';
import type { Consent } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import { valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { Empty } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { useTopics } from './queries.ts';

/** The consent records of a contact, and the page that proves them. */
export function ConsentsTab({ contactId: id }: { contactId: string }) {
  const { client, key, projectId } = useApi();
  const list = useCursorList(key('contact', id, 'consents'), (cursor) =>
    unwrap(client.GET('/contacts/{id}/consents', { params: { path: { id }, query: { cursor, limit: 50 } } })),
  );
  const topics = [...(useTopics().data ?? []), ...(useTopics(true).data ?? [])];
  const names = new Map(topics.map((topic) => [topic.id, topic.name]));
  return (
    <>
      <Group p="md" justify="flex-end">
        <Button
          component="a"
          size="xs"
          variant="default"
          leftSection={<IconPrinter size={16} />}
          href={`/contacts/${id}/proof?projectId=${projectId}`}
          target="_blank"
          rel="noopener"
        >
          {t.topics.printProof}
        </Button>
      </Group>
      <CursorTable<Consent>
        label={t.topics.consents}
        list={list}
        rowId={(consent) => consent.id}
        empty={<Empty icon={<IconCertificate size={28} />} title={t.topics.consentsEmpty} />}
        columns={[
          {
            id: 'what',
            header: t.topics.what,
            main: true,
            cell: ({ topicId }) => (
              <span className="breakable">
                {topicId === null ? t.topics.allMail : (names.get(topicId) ?? t.topics.goneTopic)}
              </span>
            ),
          },
          { id: 'action', header: t.topics.action, cell: ({ action }) => t.topics.actions[action] },
          {
            id: 'method',
            header: t.topics.method,
            cell: (consent) => (
              <div>
                {t.topics.methods[consent.method]}
                <Details consent={consent} />
              </div>
            ),
          },
          { id: 'at', header: t.topics.when, cell: ({ at }) => <Time at={at} exact /> },
        ]}
      />
    </>
  );
}

/** What was shown and given as proof. */
function Details({ consent: { text, ip, evidence } }: { consent: Consent }) {
  const given = Object.values(evidence ?? {})
    .map(valueText)
    .join(' · ');
  return (
    <>
      {text && (
        <Text size="xs" c="dimmed" lineClamp={3} className="breakable">
          “{text}”
        </Text>
      )}
      {ip && (
        <Text size="xs" c="dimmed">
          {ip}
        </Text>
      )}
      {given && (
        <Text size="xs" c="dimmed" lineClamp={3} className="breakable" title={t.topics.evidence}>
          {given}
        </Text>
      )}
    </>
  );
}
