import { Accordion, Alert, Badge, Box, Grid, Stack, Text, Timeline } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { EmailDetail } from '../../api/types.ts';
import { valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Copyable, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { BackLink, type ResourcePath, TextLink } from '../../ui/links.tsx';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Loaded, Page, Panel, Placeholder, Problem } from '../../ui/page.tsx';
import { EmailStatusBadge } from '../../ui/status.tsx';
import { NotSentAlert, useCampaignEnded, useIsSuppressed } from './not-sent.tsx';

const CONTENT_GONE = 'its recipient or content no longer exists';

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
  const back = (
    <BackLink to="/p/$projectId/emails" params={{ projectId }}>
      {t.emails.title}
    </BackLink>
  );
  const { data } = email;
  const suppressed = useIsSuppressed(data ?? { to: null, status: 'PENDING' });
  const campaignEnded = useCampaignEnded(data);
  if (!data)
    return (
      <Page title={t.emails.mail} back={back}>
        <Loaded query={email}>{() => null}</Loaded>
      </Page>
    );
  // Nothing is sent to a suppressed address or by a campaign that was cancelled, however often it is tried.
  const isPossible = !suppressed && !campaignEnded && data.reason !== CONTENT_GONE;
  const canResend = write && isPossible && (data.status === 'FAILED' || data.status === 'UNKNOWN');
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
      <NotSentAlert email={data} suppressed={suppressed} campaignEnded={campaignEnded} />
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
  const link = useClickedLink(email);
  const { status, reason, updatedAt } = email;
  const moments = [
    [t.emails.accepted, email.createdAt],
    [t.emails.statuses.SENT, email.sentAt],
    [t.emails.statuses.DELIVERED, email.deliveredAt],
    [t.emails.statuses.OPENED, email.openedAt],
    [t.emails.statuses.CLICKED, email.clickedAt, link],
    [t.emails.statuses.BOUNCED, email.bouncedAt, status === 'BOUNCED' ? reason : null],
    [t.emails.statuses.COMPLAINED, email.complainedAt],
    [t.emails.statuses.FAILED, status === 'FAILED' ? updatedAt : null, reason],
  ].filter((moment): moment is [string, string, string?] => typeof moment[1] === 'string');
  return (
    <Panel title={t.emails.history}>
      <Timeline active={moments.length} bulletSize={16} lineWidth={2}>
        {moments.map(([label, at, detail]) => (
          <Timeline.Item key={label} title={label}>
            {detail && (
              <Text size="sm" className="breakable">
                {detail}
              </Text>
            )}
            <Text size="sm" c="dimmed">
              <Time at={at} exact />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Panel>
  );
}

/** The link that the recipient clicked first. */
function useClickedLink({ id, contactId, clickedAt }: EmailDetail): string | undefined {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('email', id, 'click'),
    queryFn: () =>
      unwrap(
        client.GET('/activity', {
          params: {
            query: {
              types: 'email.clicked',
              contactId: contactId ?? undefined,
              from: clickedAt ?? undefined,
              limit: 100,
            },
          },
        }),
      ),
    enabled: clickedAt !== null,
    staleTime: 60_000,
  });
  const link = data?.data.find(({ metadata }) => metadata.emailId === id)?.metadata.link;
  return typeof link === 'string' ? link : undefined;
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
  const link = (to: ResourcePath, id: string, text: string) => (
    <TextLink to={to} params={{ projectId, id }} inherit>
      {text}
    </TextLink>
  );
  const facts: [string, ReactNode][] = [
    [t.emails.from, email.from],
    [t.emails.source, t.emails.sources[email.sourceType]],
    [t.emails.contact, email.contactId && link('/p/$projectId/contacts/$id', email.contactId, t.emails.toContact)],
    [t.emails.campaign, email.campaignId && link('/p/$projectId/campaigns/$id', email.campaignId, t.emails.toCampaign)],
    [t.emails.template, email.templateId && link('/p/$projectId/templates/$id', email.templateId, t.emails.toTemplate)],
    [t.emails.workflow, email.workflowId && link('/p/$projectId/workflows/$id', email.workflowId, t.emails.toWorkflow)],
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
