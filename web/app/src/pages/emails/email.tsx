import { Accordion, Alert, Anchor, Badge, Box, Grid, Stack, Text, Timeline } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { EmailDetail } from '../../api/types.ts';
import { valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Copyable, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Loaded, Page, Panel, Placeholder, Problem } from '../../ui/page.tsx';
import { EmailStatusBadge } from '../../ui/status.tsx';

export function EmailPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const { id } = useParams({ from: '/signed-in/p/$projectId/emails/$id' });
  const email = useQuery({
    queryKey: key('email', id),
    queryFn: () => unwrap(client.GET('/emails/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data && ['PENDING', 'SENDING'].includes(state.data.status) ? 3_000 : false),
  });
  const resend = useAction({
    run: () => unwrap(client.POST('/emails/{id}/resend', { params: { path: { id } } })),
    done: () => t.emails.resent,
    changes: [key('email', id), key('emails')],
    quiet: true,
  });
  const back = { to: `/p/${projectId}/emails`, label: t.emails.title };
  const { data } = email;
  if (!data)
    return (
      <Page title={t.emails.mail} back={back}>
        <Loaded query={email}>{() => null}</Loaded>
      </Page>
    );
  const canResend = write && (data.status === 'FAILED' || data.status === 'UNKNOWN');
  return (
    <Page
      title={data.subject || t.emails.noSubject}
      back={back}
      badge={<EmailStatusBadge status={data.status} />}
      description={data.to}
      actions={
        canResend && (
          <ConfirmButton
            label={t.emails.resend}
            icon={<IconRefresh size={16} />}
            title={t.emails.resendTitle(data.to ?? '')}
            confirm={t.emails.resend}
            onConfirm={() => resend.mutateAsync()}
          >
            {data.status === 'UNKNOWN' ? t.emails.resendUnknown : t.emails.resendFailed}
          </ConfirmButton>
        )
      }
    >
      {data.reason && (
        <Alert color={data.status === 'UNKNOWN' ? 'orange' : 'red'} title={t.emails.reason}>
          <span className="breakable">{data.reason}</span>
        </Alert>
      )}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="lg">
            <HistoryPanel email={data} />
            <AttemptsPanel email={data} />
            <FactsPanel email={data} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <ContentPanel id={id} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function HistoryPanel({ email }: { email: EmailDetail }) {
  const moments = [
    [t.emails.accepted, email.createdAt],
    [t.emails.statuses.SENT, email.sentAt],
    [t.emails.statuses.DELIVERED, email.deliveredAt],
    [t.emails.statuses.OPENED, email.openedAt],
    [t.emails.statuses.CLICKED, email.clickedAt],
    [t.emails.statuses.BOUNCED, email.bouncedAt],
    [t.emails.statuses.COMPLAINED, email.complainedAt],
  ].filter((moment): moment is [string, string] => typeof moment[1] === 'string');
  return (
    <Panel title={t.emails.history}>
      <Timeline active={moments.length} bulletSize={16} lineWidth={2}>
        {moments.map(([label, at]) => (
          <Timeline.Item key={label} title={label}>
            <Text size="sm" c="dimmed">
              <Time at={at} exact />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Panel>
  );
}

const outcomeColors = { sent: 'teal', deferred: 'yellow', refused: 'red', unknown: 'orange' };

function AttemptsPanel({ email }: { email: EmailDetail }) {
  return (
    <Panel title={t.emails.attempts}>
      {email.attemptLog.length === 0 ? (
        <Text c="dimmed">{t.emails.noAttempts}</Text>
      ) : (
        <Stack gap="md">
          {email.attemptLog.map(({ number, startedAt, relay, outcome, answer }) => (
            <Box key={number} className="record">
              <Text fw={600} size="sm" component="div">
                {t.emails.attempt(number)}{' '}
                <Badge color={outcomeColors[outcome]} ml={6}>
                  {t.emails.outcomes[outcome]}
                </Badge>
              </Text>
              <Text size="sm" c="dimmed">
                <Time at={startedAt} exact />
                {relay && ` · ${t.emails.relay} ${relay}`}
              </Text>
              {answer && (
                <Text size="sm" ff="monospace" mt={4} className="breakable">
                  {answer}
                </Text>
              )}
            </Box>
          ))}
        </Stack>
      )}
    </Panel>
  );
}

function FactsPanel({ email }: { email: EmailDetail }) {
  const { projectId } = useApi();
  const link = (path: string, text: string) => (
    <Anchor component={Link} to={`/p/${projectId}/${path}`}>
      {text}
    </Anchor>
  );
  const facts: [string, ReactNode][] = [
    [t.emails.from, email.from],
    [t.emails.source, t.emails.sources[email.sourceType]],
    [t.emails.contact, link(`contacts/${email.contactId}`, t.emails.toContact)],
    [t.emails.campaign, email.campaignId && link(`campaigns/${email.campaignId}`, t.emails.toCampaign)],
    [t.emails.template, email.templateId && link(`templates/${email.templateId}`, t.emails.toTemplate)],
    [t.emails.workflow, email.workflowId && link(`workflows/${email.workflowId}`, t.emails.toWorkflow)],
    [t.emails.messageId, email.messageId && <Copyable value={email.messageId} label={t.emails.messageId} />],
    ['ID', <Copyable key="id" value={email.id} label="ID" />],
  ];
  return (
    <Panel>
      <dl className="facts">
        {facts
          .filter(([, value]) => value)
          .map(([label, value]) => (
            <Box key={label} display="contents">
              <dt>{label}</dt>
              <dd>{value}</dd>
            </Box>
          ))}
      </dl>
    </Panel>
  );
}

function ContentPanel({ id }: { id: string }) {
  const { client, key } = useApi();
  const content = useQuery({
    queryKey: key('email-content', id),
    queryFn: () => unwrap(client.GET('/emails/{id}/content', { params: { path: { id } } })),
    staleTime: 600_000,
  });
  const isGone = content.error instanceof ApiProblem && content.error.status === 410;
  return (
    <Panel title={t.emails.content}>
      {isGone ? (
        <Text c="dimmed">{t.emails.contentGone}</Text>
      ) : content.error ? (
        <Problem error={content.error} onRetry={() => void content.refetch()} />
      ) : !content.data ? (
        <Placeholder lines={10} />
      ) : (
        <Stack>
          {content.data.reproduced && <Alert color="yellow">{t.emails.reproduced}</Alert>}
          <MailFrame
            previewUrl={previewPath(content.data.previewUrl)}
            text={content.data.text ?? undefined}
            subject={content.data.subject ?? ''}
          />
          <Accordion variant="separated">
            <Accordion.Item value="headers">
              <Accordion.Control>{t.emails.headers}</Accordion.Control>
              <Accordion.Panel>
                <dl className="facts">
                  {headerList(content.data.headers).map(([name, value]) => (
                    <Box key={`${name}:${value}`} display="contents">
                      <dt>{name}</dt>
                      <dd>{value}</dd>
                    </Box>
                  ))}
                </dl>
              </Accordion.Panel>
            </Accordion.Item>
          </Accordion>
        </Stack>
      )}
    </Panel>
  );
}

const headerList = (headers: Record<string, unknown>): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, valueText(value)]);
