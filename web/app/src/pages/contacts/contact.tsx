import { Alert, Badge, Button, Grid, Group, Stack, Switch, Tabs, Text } from '@mantine/core';
import { IconDownload, IconMail, IconRoute, IconTrash, IconUser } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Contact, Suppression } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Copyable, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { BackLink, TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel, Placeholder } from '../../ui/page.tsx';
import { EmailStatusBadge, ExecutionStatusBadge, SubscribedBadge } from '../../ui/status.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { ConsentsTab, SubscriptionsPanel } from '../topics/lazy.tsx';
import { DataEditor } from './data-editor.tsx';
import { TimelineTab } from './timeline.tsx';

export function ContactPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/contacts/$id' });
  const contact = useQuery({
    queryKey: key('contact', id),
    queryFn: () => unwrap(client.GET('/contacts/{id}', { params: { path: { id } } })),
  });
  const suppression = useSuppression(contact.data?.email);
  const back = (
    <BackLink to="/p/$projectId/contacts" params={{ projectId }}>
      {t.contacts.title}
    </BackLink>
  );
  if (!contact.data)
    return (
      <Page title={t.contacts.title} back={back}>
        <Loaded query={contact}>{() => null}</Loaded>
      </Page>
    );
  return (
    <Page
      title={contact.data.email}
      back={back}
      badge={
        <>
          <SubscribedBadge subscribed={contact.data.subscribed} />
          {suppression && <Badge color="red">{t.contacts.suppressed}</Badge>}
        </>
      }
      description={
        <>
          {t.common.created} <Time at={contact.data.createdAt} /> · {t.common.updated}{' '}
          <Time at={contact.data.updatedAt} />
        </>
      }
      actions={<ContactActions contact={contact.data} />}
    >
      {suppression && (
        <Alert color="red" title={t.contacts.suppressedTitle(t.contacts.suppressionReasons[suppression.reason])}>
          {t.contacts.suppressionHints[suppression.reason]} {t.contacts.suppressedText}{' '}
          <TextLink
            to="/p/$projectId/suppressions"
            params={{ projectId }}
            search={{ search: contact.data.email }}
            inherit
            c="inherit"
            underline="always"
          >
            {t.contacts.showSuppression}
          </TextLink>
        </Alert>
      )}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="lg">
            <SubscriptionPanel contact={contact.data} />
            <Suspense fallback={<Placeholder lines={3} />}>
              <SubscriptionsPanel contactId={contact.data.id} />
            </Suspense>
            <DataEditor contact={contact.data} />
            <Panel>
              <Text size="sm" c="dimmed">
                ID
              </Text>
              <Copyable value={contact.data.id} label="ID" />
            </Panel>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <HistoryTabs contact={contact.data} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

/** The suppression of an address; the search also finds addresses that contain it. */
function useSuppression(address: string | undefined): Suppression | undefined {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('suppressions', 'of', address),
    queryFn: () => unwrap(client.GET('/suppressions', { params: { query: { search: address, limit: 100 } } })),
    enabled: address !== undefined,
  });
  // Without an address, the hash of this one was found.
  return data?.data.find(({ email }) => email === null || email === address?.toLowerCase());
}

function ContactActions({ contact }: { contact: Contact }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const remove = useAction({
    run: () => unwrap(client.DELETE('/contacts/{id}', { params: { path: { id: contact.id } } })),
    done: () => t.contacts.deleted(contact.email),
    changes: [key('contacts')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/contacts', params: { projectId }, ignoreBlocker: true }),
  });
  if (!write) return null;
  return (
    <>
      <Button
        component="a"
        variant="default"
        leftSection={<IconDownload size={16} />}
        href={`/contacts/${contact.id}/export?projectId=${projectId}`}
        download
      >
        {t.contacts.exportPerson}
      </Button>
      <ConfirmButton
        danger
        variant="light"
        label={t.contacts.deletePerson}
        icon={<IconTrash size={16} />}
        title={t.contacts.deletePersonTitle(contact.email)}
        confirm={t.common.delete}
        onConfirm={() => remove.mutateAsync()}
      >
        {t.contacts.deletePersonText(contact.email)}
      </ConfirmButton>
    </>
  );
}

function SubscriptionPanel({ contact }: { contact: Contact }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const change = useAction({
    run: (subscribed: boolean) =>
      unwrap(client.PATCH('/contacts/{id}', { params: { path: { id: contact.id } }, body: { subscribed } })),
    done: (_, subscribed) => (subscribed ? t.contacts.subscribed : t.contacts.unsubscribed),
    changes: [key('contact', contact.id), key('contacts'), key('activity', contact.id)],
  });
  return (
    <Panel title={t.contacts.allEmail}>
      <Switch
        label={t.contacts.subscribed}
        description={t.contacts.subscribedHint}
        checked={change.isPending ? change.variables : contact.subscribed}
        disabled={!write}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
    </Panel>
  );
}

function HistoryTabs({ contact }: { contact: Contact }) {
  const { tab = 'timeline' } = useSearch({ from: '/signed-in/p/$projectId/contacts/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/contacts/$id' });
  const names = t.contacts.tabs;
  return (
    <Panel flush>
      <Tabs
        value={tab in names ? tab : 'timeline'}
        onChange={(next) => void navigate({ search: { tab: next ?? undefined }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List px="md" pt="xs">
          {Object.entries(names).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="timeline">
          <TimelineTab contactId={contact.id} />
        </Tabs.Panel>
        <Tabs.Panel value="mails">
          <MailsTab contactId={contact.id} />
        </Tabs.Panel>
        <Tabs.Panel value="segments">
          <SegmentsTab contactId={contact.id} />
        </Tabs.Panel>
        <Tabs.Panel value="executions">
          <ExecutionsTab contactId={contact.id} />
        </Tabs.Panel>
        <Tabs.Panel value="consents">
          <Suspense fallback={<Placeholder lines={4} />}>
            <ConsentsTab contactId={contact.id} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Panel>
  );
}

function MailsTab({ contactId }: { contactId: string }) {
  const { client, key, projectId } = useApi();
  const list = useCursorList(key('emails', { contactId }), (cursor) =>
    unwrap(client.GET('/emails', { params: { query: { contactId, limit: 50, cursor } } })),
  );
  return (
    <CursorTable
      label={t.contacts.tabs.mails}
      list={list}
      rowId={({ id }) => id}
      empty={<Empty icon={<IconMail size={28} />} title={t.contacts.mailsEmpty} />}
      columns={[
        {
          id: 'subject',
          header: t.emails.subject,
          main: true,
          cell: ({ id, subject }) => (
            <TextLink to="/p/$projectId/emails/$id" params={{ projectId, id }} inherit>
              {subject ?? t.emails.noSubject}
            </TextLink>
          ),
        },
        { id: 'status', header: t.common.status, cell: ({ status }) => <EmailStatusBadge status={status} /> },
        { id: 'createdAt', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}

function SegmentsTab({ contactId: id }: { contactId: string }) {
  const { client, key, projectId } = useApi();
  const list = useCursorList(key('contact', id, 'segments'), (cursor) =>
    unwrap(client.GET('/contacts/{id}/segments', { params: { path: { id }, query: { cursor } } })),
  );
  return (
    <CursorTable
      label={t.contacts.tabs.segments}
      list={list}
      rowId={(segment) => segment.id}
      empty={<Empty icon={<IconUser size={28} />} title={t.contacts.segmentsEmpty} />}
      columns={[
        {
          id: 'name',
          header: t.common.name,
          main: true,
          cell: (segment) => (
            <TextLink to="/p/$projectId/segments/$id" params={{ projectId, id: segment.id }} inherit>
              {segment.name}
            </TextLink>
          ),
        },
        { id: 'type', header: t.segments.type, cell: ({ type }) => <Badge>{t.segments.types[type]}</Badge> },
      ]}
    />
  );
}

function ExecutionsTab({ contactId: id }: { contactId: string }) {
  const { client, key, projectId } = useApi();
  const list = useCursorList(key('contact', id, 'executions'), (cursor) =>
    unwrap(client.GET('/contacts/{id}/executions', { params: { path: { id }, query: { cursor } } })),
  );
  return (
    <CursorTable
      label={t.contacts.tabs.executions}
      list={list}
      rowId={(execution) => execution.id}
      empty={<Empty icon={<IconRoute size={28} />} title={t.contacts.executionsEmpty} />}
      columns={[
        {
          id: 'workflow',
          header: t.contacts.workflow,
          main: true,
          cell: ({ id: executionId, workflowId, workflowName }) => (
            <TextLink
              to="/p/$projectId/workflows/$id/executions/$executionId"
              params={{ projectId, id: workflowId, executionId }}
              fw={600}
              inherit
            >
              {workflowName || '—'}
            </TextLink>
          ),
        },
        {
          id: 'status',
          header: t.common.status,
          cell: ({ status, error }) => (
            <Group gap={6}>
              <ExecutionStatusBadge status={status} />
              {error && (
                <Text size="xs" c="dimmed">
                  {error}
                </Text>
              )}
            </Group>
          ),
        },
        { id: 'step', header: t.contacts.step, cell: ({ currentStepName }) => currentStepName ?? '—' },
        { id: 'started', header: t.contacts.started, cell: ({ startedAt }) => <Time at={startedAt} /> },
      ]}
    />
  );
}
