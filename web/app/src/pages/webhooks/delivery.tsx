import { Alert, Badge, Box, Button, Group, Stack, Text } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import type { WebhookDeliveryDetail } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Copyable, CopyButton, Time } from '../../ui/controls.tsx';
import { BackLink, TextLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { DeliveryStatus, NextAttempt } from './status.tsx';

const REFRESH_MS = 3_000;

export function DeliveryPage() {
  const { client, key, projectId } = useApi();
  const { id, deliveryId } = useParams({ from: '/signed-in/p/$projectId/webhooks/$id/deliveries/$deliveryId' });
  const endpoint = useQuery({
    queryKey: key('webhooks', id),
    queryFn: () => unwrap(client.GET('/webhook-endpoints/{id}', { params: { path: { id } } })),
  });
  const delivery = useQuery({
    queryKey: key('deliveries', id, deliveryId),
    queryFn: () => unwrap(client.GET('/webhook-deliveries/{id}', { params: { path: { id: deliveryId } } })),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? REFRESH_MS : false),
  });
  const { data } = delivery;
  return (
    <Page
      title={data?.type ?? t.webhooks.delivery}
      back={
        <BackLink to="/p/$projectId/webhooks/$id" params={{ projectId, id }}>
          {endpoint.data?.url ?? t.webhooks.title}
        </BackLink>
      }
      badge={data && <DeliveryStatus status={data.status} />}
      actions={data && <ReplayButton endpointId={id} deliveryId={deliveryId} />}
    >
      <Loaded query={delivery}>
        {(loaded) => (
          <>
            <Panel>
              <DeliveryFacts delivery={loaded} />
            </Panel>
            <RequestPanel delivery={loaded} url={endpoint.data?.url ?? ''} />
            <AttemptsPanel delivery={loaded} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function ReplayButton({ endpointId, deliveryId }: { endpointId: string; deliveryId: string }) {
  const { client, key, projectId } = useApi();
  const { admin } = useRights();
  const navigate = useNavigate();
  const replay = useAction({
    run: () => unwrap(client.POST('/webhook-deliveries/{id}/replay', { params: { path: { id: deliveryId } } })),
    done: () => t.webhooks.replayed,
    changes: [key('deliveries', endpointId)],
    onDone: ({ deliveryId: created }) =>
      void navigate({
        to: '/p/$projectId/webhooks/$id/deliveries/$deliveryId',
        params: { projectId, id: endpointId, deliveryId: created },
      }),
  });
  if (!admin) return null;
  return (
    <Button leftSection={<IconRepeat size={16} />} onClick={() => replay.mutate()} loading={replay.isPending}>
      {t.webhooks.replay}
    </Button>
  );
}

function DeliveryFacts({ delivery }: { delivery: WebhookDeliveryDetail }) {
  const { projectId } = useApi();
  const { eventId, createdAt, deliveredAt, nextAttemptAt, attempts, payload } = delivery;
  const { contactId } = payload.data;
  return (
    <dl className="facts">
      <dt>webhook-id</dt>
      <dd>
        <Copyable value={eventId} label="webhook-id" />
      </dd>
      <dt>{t.common.created}</dt>
      <dd>
        <Time at={createdAt} exact />
      </dd>
      <dt>{t.webhooks.deliveredAt}</dt>
      <dd>
        <Time at={deliveredAt} exact />
      </dd>
      <dt>{t.webhooks.next}</dt>
      <dd>
        <NextAttempt at={nextAttemptAt} exact />
      </dd>
      <dt>{t.webhooks.attempts}</dt>
      <dd>{number(attempts)}</dd>
      {typeof contactId === 'string' && (
        <>
          <dt>{t.events.person}</dt>
          <dd>
            <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: contactId }}>
              {t.events.showPerson}
            </TextLink>
          </dd>
        </>
      )}
    </dl>
  );
}

function RequestPanel({ delivery, url }: { delivery: WebhookDeliveryDetail; url: string }) {
  const { payload, eventId } = delivery;
  const body = JSON.stringify(payload, null, 2);
  const text = `POST ${url}\ncontent-type: application/json\nwebhook-id: ${eventId}\n\n${body}`;
  return (
    <Panel
      title={t.webhooks.request}
      description={t.webhooks.requestText}
      actions={<CopyButton value={text} label={t.webhooks.request} />}
    >
      <Stack gap="sm">
        {payload.truncated && <Alert color="yellow">{t.webhooks.truncated}</Alert>}
        <pre className="mail-text">{text}</pre>
      </Stack>
    </Panel>
  );
}

const statusColor = (status: number | null): string =>
  status === null ? 'gray' : status < 300 ? 'teal' : status < 500 ? 'orange' : 'red';

function AttemptsPanel({ delivery: { attemptLog } }: { delivery: WebhookDeliveryDetail }) {
  return (
    <Panel title={t.webhooks.attempts} description={t.webhooks.attemptsText}>
      {attemptLog.length === 0 && <Text c="dimmed">{t.webhooks.noAttempts}</Text>}
      <Stack>
        {[...attemptLog].reverse().map((attempt) => (
          <Box key={attempt.number} className="record">
            <Group gap="sm" mb={4}>
              <Text fw={600}>{t.webhooks.attempt(attempt.number)}</Text>
              <Badge color={statusColor(attempt.statusCode)}>{attempt.statusCode ?? t.webhooks.noAnswer}</Badge>
              <Text size="sm" c="dimmed" component="span">
                <Time at={attempt.startedAt} exact /> · {t.webhooks.took(`${number(attempt.durationMs)} ms`)}
              </Text>
            </Group>
            {attempt.error && <Text className="breakable">{attempt.error}</Text>}
            {attempt.answer ? (
              <pre className="mail-text">{attempt.answer}</pre>
            ) : (
              attempt.statusCode !== null && (
                <Text size="sm" c="dimmed">
                  {t.webhooks.emptyAnswer}
                </Text>
              )
            )}
          </Box>
        ))}
      </Stack>
    </Panel>
  );
}
