import {
  Alert,
  Badge,
  Button,
  Code,
  Grid,
  Group,
  Radio,
  Stack,
  Switch,
  Tabs,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconSend, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Segment } from '../../api/types.ts';
import { ConditionBuilder } from '../../conditions/builder.tsx';
import { Matches, usePreview } from '../../conditions/matches.tsx';
import { type Condition, isComplete, isCondition, newCondition, requestedCondition } from '../../conditions/model.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { BackLink, ButtonLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { MembersTab } from './members.tsx';
import { UsageTab } from './usage.tsx';

interface Form {
  name: string;
  description: string;
  type: Segment['type'];
  condition: Condition;
  trackMembership: boolean;
}

const formOf = (segment?: Segment): Form => ({
  name: segment?.name ?? '',
  description: segment?.description ?? '',
  type: segment?.type ?? 'DYNAMIC',
  condition: isCondition(segment?.condition) ? segment.condition : newCondition(),
  trackMembership: segment?.trackMembership ?? false,
});

const bodyOf = ({ name, description, type, condition, trackMembership }: Form) => ({
  name: name.trim(),
  description: description.trim() || null,
  type,
  trackMembership,
  ...(type === 'DYNAMIC' && { condition: requestedCondition(condition) }),
});

/** The same text for the same content: a stored condition has its keys in another order. */
const comparable = (form: Form): string =>
  JSON.stringify(bodyOf(form), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a.localeCompare(b)))
      : value,
  );

const isChanged = (form: Form, segment?: Segment): boolean => comparable(form) !== comparable(formOf(segment));

export function NewSegmentPage() {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const [form, setForm] = useState(() => formOf());
  const create = useAction<Form, Segment>({
    run: (values) => unwrap(client.POST('/segments', { body: bodyOf(values) })),
    done: () => t.segments.created,
    changes: [key('segments')],
    quiet: true,
    onDone: ({ id, type }) =>
      void navigate({
        to: '/p/$projectId/segments/$id',
        params: { projectId, id },
        search: type === 'STATIC' ? { tab: 'members' } : {},
        ignoreBlocker: true,
      }),
  });
  useWarnBeforeLeaving(isChanged(form));
  return (
    <Page
      title={t.segments.new}
      back={
        <BackLink to="/p/$projectId/segments" params={{ projectId }}>
          {t.segments.title}
        </BackLink>
      }
    >
      <SegmentForm
        form={form}
        onChange={setForm}
        onSubmit={() => create.mutate(form)}
        busy={create.isPending}
        error={create.error}
        submit={t.segments.create}
        isNew
      />
    </Page>
  );
}

export function SegmentPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/segments/$id' });
  const segment = useQuery({
    queryKey: key('segment', id),
    queryFn: () => unwrap(client.GET('/segments/{id}', { params: { path: { id } } })),
  });
  if (segment.data) return <ExistingSegment key={id} segment={segment.data} />;
  return (
    <Page
      title={t.segments.title}
      back={
        <BackLink to="/p/$projectId/segments" params={{ projectId }}>
          {t.segments.title}
        </BackLink>
      }
    >
      <Loaded query={segment}>{() => null}</Loaded>
    </Page>
  );
}

function ExistingSegment({ segment }: { segment: Segment }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const { tab } = useSearch({ from: '/signed-in/p/$projectId/segments/$id' });
  const [form, setForm] = useState(() => formOf(segment));
  const { id, name } = segment;
  const params = { params: { path: { id } } };
  const save = useAction<Form, Segment>({
    run: (values) => {
      const { type: _fixed, ...body } = bodyOf(values);
      return unwrap(client.PATCH('/segments/{id}', { ...params, body }));
    },
    done: () => t.segments.saved,
    changes: [key('segments'), key('segment', id), key('segment-contacts', id)],
    quiet: true,
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/segments/{id}', params)),
    done: () => t.segments.deleted(name),
    changes: [key('segments')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/segments', params: { projectId }, ignoreBlocker: true }),
  });
  useWarnBeforeLeaving(isChanged(form, segment));
  const names = t.segments.tabs;
  const current = tab !== undefined && tab in names ? tab : 'conditions';
  return (
    <Page
      title={name}
      back={
        <BackLink to="/p/$projectId/segments" params={{ projectId }}>
          {t.segments.title}
        </BackLink>
      }
      badge={<Badge variant="default">{t.segments.types[segment.type]}</Badge>}
      description={<MemberCount segment={segment} form={form} />}
      actions={
        write && (
          <>
            <ButtonLink
              to="/p/$projectId/campaigns/new"
              params={{ projectId }}
              search={{ segmentId: id }}
              variant="default"
              leftSection={<IconSend size={16} />}
            >
              {t.segments.sendCampaign}
            </ButtonLink>
            <ConfirmButton
              danger
              variant="light"
              label={t.common.delete}
              icon={<IconTrash size={16} />}
              title={t.segments.deleteTitle(name)}
              confirm={t.common.delete}
              onConfirm={() => remove.mutateAsync()}
            >
              {t.segments.deleteText(segment.memberCount)}
            </ConfirmButton>
          </>
        )
      }
    >
      <Tabs
        value={current}
        onChange={(next) =>
          void navigate({
            to: '/p/$projectId/segments/$id',
            params: { projectId, id },
            search: { tab: next ?? undefined },
            replace: true,
          })
        }
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          {Object.entries(names).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {value === 'conditions' && segment.type === 'STATIC' ? t.segments.settings : label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="conditions">
          <SegmentForm
            form={form}
            onChange={setForm}
            onSubmit={() => save.mutate(form)}
            busy={save.isPending}
            error={save.error}
            submit={t.common.save}
            segment={segment}
          />
        </Tabs.Panel>
        <Tabs.Panel value="members">
          <MembersTab segment={segment} />
        </Tabs.Panel>
        <Tabs.Panel value="usage">
          <UsageTab segment={segment} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** The same number as the preview shows, where the conditions are those that are stored. */
function MemberCount({ segment, form }: { segment: Segment; form: Form }) {
  const isStored = segment.type === 'DYNAMIC' && !isChanged(form, segment);
  const { data } = usePreview(isStored ? form.condition : undefined);
  const isCounted = isStored && data !== undefined && !data.estimated;
  return (
    <>
      {t.segments.members}: {number(isCounted ? data.count : segment.memberCount)}
      {' · '}
      {isCounted || !segment.countedAt ? t.contactLists.countedNow : <CountedAt at={segment.countedAt} />}
    </>
  );
}

const CountedAt = ({ at }: { at: string }) => (
  <>
    {t.contactLists.counted} <Time at={at} />
  </>
);

interface SegmentFormProps {
  form: Form;
  onChange(form: Form): void;
  onSubmit(): void;
  busy: boolean;
  error: Error | null;
  submit: string;
  isNew?: boolean;
  segment?: Segment;
}

function SegmentForm({ form, onChange, onSubmit, busy, error, submit, isNew, segment }: SegmentFormProps) {
  const { write } = useRights();
  const isDynamic = form.type === 'DYNAMIC';
  const preview = usePreview(isDynamic ? form.condition : undefined);
  const complete = !isDynamic || isComplete(form.condition);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="lg">
            {error && <Alert color="red">{messageOf(error)}</Alert>}
            <Panel>
              <Stack>
                <TextInput
                  label={t.segments.name}
                  required
                  maxLength={100}
                  value={form.name}
                  readOnly={!write}
                  onChange={(event) => onChange({ ...form, name: event.currentTarget.value })}
                />
                <Textarea
                  label={t.common.description}
                  maxLength={500}
                  autosize
                  minRows={1}
                  value={form.description}
                  readOnly={!write}
                  onChange={(event) => onChange({ ...form, description: event.currentTarget.value })}
                />
                {isNew && (
                  <Radio.Group
                    label={t.segments.type}
                    value={form.type}
                    onChange={(type) => onChange({ ...form, type: type as Form['type'] })}
                  >
                    <Stack gap="xs" mt="xs">
                      {(['DYNAMIC', 'STATIC'] as const).map((value) => (
                        <Radio
                          key={value}
                          value={value}
                          label={t.segments.types[value]}
                          description={t.segments.typeHints[value]}
                        />
                      ))}
                    </Stack>
                  </Radio.Group>
                )}
                <Switch
                  label={t.segments.track}
                  description={t.segments.trackHint}
                  checked={form.trackMembership}
                  disabled={!write}
                  onChange={(event) => onChange({ ...form, trackMembership: event.currentTarget.checked })}
                />
                {segment?.trackMembership && <Code>{t.segments.trackEvents(segment.slug)}</Code>}
              </Stack>
            </Panel>
            {isDynamic && (
              <Panel title={t.segments.conditions} description={t.segments.conditionsText}>
                <ConditionBuilder
                  value={form.condition}
                  onChange={(condition) => onChange({ ...form, condition })}
                  readOnly={!write}
                  {...(segment && { ownSegmentId: segment.id })}
                />
              </Panel>
            )}
            {write && (
              <Group justify="flex-end">
                <Button type="submit" loading={busy} disabled={!complete || form.name.trim() === ''}>
                  {submit}
                </Button>
              </Group>
            )}
          </Stack>
        </Grid.Col>
        {isDynamic && (
          <Grid.Col span={{ base: 12, md: 4 }}>
            <Panel className="sticky">
              <Matches preview={preview} complete={complete} title={t.segments.countTitle} />
            </Panel>
          </Grid.Col>
        )}
      </Grid>
    </form>
  );
}
