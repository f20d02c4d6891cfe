import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ChangeContactTopicsRequest, ContactTopics } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';

type Topic = ContactTopics['data'][number];
type Frequency = NonNullable<ContactTopics['frequency']>;

const DAY_MS = 86_400_000;
const periods: Frequency['per'][] = ['DAY', 'WEEK', 'MONTH'];

/** What a contact receives, topic by topic, with pause and limit. */
export function SubscriptionsPanel({ contactId: id }: { contactId: string }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const path = { params: { path: { id } } };
  const topics = useQuery({
    queryKey: key('contact', id, 'topics'),
    queryFn: () => unwrap(client.GET('/contacts/{id}/topics', path)),
  });
  const change = useAction({
    run: ({ body }: { body: ChangeContactTopicsRequest; done: string }) =>
      unwrap(client.PATCH('/contacts/{id}/topics', { ...path, body })),
    done: (_, { done }) => done,
    changes: [key('contact', id), key('activity', id), key('topics')],
  });
  const actions = { write: write && !change.isPending, change: change.mutate };
  return (
    <Panel title={t.topics.subscriptions}>
      <Loaded query={topics} lines={3}>
        {(data) => (
          <Stack>
            {data.data.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t.topics.noneYet}{' '}
                {write && (
                  <TextLink to="/p/$projectId/topics/new" params={{ projectId }} inherit underline="always">
                    {t.topics.newTopic}
                  </TextLink>
                )}
              </Text>
            ) : (
              data.data.map((topic) => <TopicRow key={topic.topicId} topic={topic} {...actions} />)
            )}
            <SnoozeField until={data.snoozedUntil} {...actions} />
            <FrequencyField frequency={data.frequency} {...actions} />
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

interface ActionProps {
  write: boolean;
  change(change: { body: ChangeContactTopicsRequest; done: string }): void;
}

function TopicRow({ topic, write, change }: ActionProps & { topic: Topic }) {
  const { topicId, name, state, source, since } = topic;
  const choices = (['SUBSCRIBED', 'UNSUBSCRIBED'] as const).map((value) => ({ value, label: t.topics.states[value] }));
  return (
    <Group justify="space-between" gap="xs" align="flex-start">
      <div className="breakable">
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          {source === 'DEFAULT' ? (
            t.topics.byDefault
          ) : (
            <>
              {t.topics.since} <Time at={since} />
            </>
          )}
        </Text>
      </div>
      {write ? (
        <Choice<Topic['state']>
          label={name}
          w={170}
          value={state}
          onChange={(next) => {
            if (next === 'PENDING') return;
            change({ body: { topics: { [topicId]: next } }, done: t.topics.changed(name) });
          }}
          data={state === 'PENDING' ? [{ value: state, label: t.topics.states.PENDING }, ...choices] : choices}
        />
      ) : (
        <Badge variant="default">{t.topics.states[state]}</Badge>
      )}
    </Group>
  );
}

type Days = keyof typeof t.topics.snoozes;

function SnoozeField({ until, write, change }: ActionProps & { until: string | null }) {
  if (until !== null && Date.parse(until) > Date.now())
    return (
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {t.topics.snoozedUntil} <Time at={until} exact />
        </Text>
        {write && (
          <Button
            size="xs"
            variant="default"
            onClick={() => change({ body: { snoozedUntil: null }, done: t.topics.snoozeEnded })}
          >
            {t.topics.endSnooze}
          </Button>
        )}
      </Group>
    );
  if (!write) return null;
  const pause = (days: Days) => {
    if (days === 'no') return;
    const end = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    change({ body: { snoozedUntil: end }, done: t.topics.snoozed });
  };
  const days: Days[] = ['no', '14', '30', '91', '182'];
  return (
    <Choice<Days>
      label={t.topics.snooze}
      visibleLabel
      value="no"
      onChange={pause}
      data={days.map((value) => ({ value, label: t.topics.snoozes[value] }))}
    />
  );
}

type Limit = 'NONE' | 'OTHER' | Frequency['per'];

function FrequencyField({ frequency, write, change }: ActionProps & { frequency: Frequency | null }) {
  const { count = 0, per = 'DAY' } = frequency ?? {};
  const value: Limit = frequency === null ? 'NONE' : count === 1 ? per : 'OTHER';
  const other = { value: 'OTHER' as const, label: t.topics.otherFrequency(count, per) };
  const offered = (['NONE', ...periods] as const).map((one) => ({ value: one, label: t.topics.frequencies[one] }));
  const data: { value: Limit; label: string }[] = value === 'OTHER' ? [other, ...offered] : offered;
  if (!write)
    return frequency === null ? null : (
      <Text size="sm">
        {t.topics.frequency} {data.find((one) => one.value === value)?.label}
      </Text>
    );
  return (
    <Choice<Limit>
      label={t.topics.frequency}
      visibleLabel
      value={value}
      onChange={(next) => {
        if (next === 'OTHER') return;
        const limit = next === 'NONE' ? null : { count: 1, per: next };
        change({ body: { frequency: limit }, done: t.topics.frequencySaved });
      }}
      data={data}
    />
  );
}
