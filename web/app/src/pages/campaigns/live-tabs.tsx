import { Anchor, Badge, Box, Group, Text } from '@mantine/core';
import { IconLink, IconUsers, IconWorld } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import type { Campaign, Recipient, RecipientStatus } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { recipientStatuses } from '../../search.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Empty, Loaded } from '../../ui/page.tsx';
import { CursorTable, DataTable } from '../../ui/table.tsx';

const colors: Record<RecipientStatus, string> = {
  PENDING: 'gray',
  SENT: 'teal',
  FAILED: 'red',
  SKIPPED: 'gray',
  CANCELLED: 'gray',
  UNKNOWN: 'orange',
};

const everyFewSeconds = ({ status }: Campaign): number => (status === 'SENDING' ? 4_000 : 30_000);

export function RecipientsTab({ campaign }: { campaign: Campaign }) {
  const { client, key, projectId } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/campaigns/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/campaigns/$id' });
  const status = search.recipients;
  const { id } = campaign;
  const list = useCursorList<Recipient>(
    key('recipients', id, status),
    (cursor) =>
      unwrap(
        client.GET('/campaigns/{id}/recipients', { params: { path: { id }, query: { status, cursor, limit: 50 } } }),
      ),
    { refetchInterval: everyFewSeconds(campaign) },
  );
  return (
    <>
      <Group p="md">
        <Choice
          label={t.common.status}
          w={190}
          value={status ?? 'any'}
          onChange={(value) =>
            void navigate({
              search: { ...search, recipients: value === 'any' ? undefined : value },
              replace: true,
            })
          }
          data={[
            { value: 'any', label: t.common.all },
            ...recipientStatuses.map((value) => ({ value, label: t.campaigns.recipientStatuses[value] })),
          ]}
        />
      </Group>
      <CursorTable<Recipient>
        label={t.campaigns.recipients}
        list={list}
        rowId={({ emailId }) => emailId}
        empty={
          <Empty
            icon={<IconUsers size={28} />}
            title={status ? t.campaigns.noRecipientsFiltered : t.campaigns.noRecipients}
          />
        }
        columns={[
          {
            id: 'email',
            header: t.contacts.email,
            main: true,
            cell: ({ email, contactId }) => (
              <Anchor component={Link} to={`/p/${projectId}/contacts/${contactId}`} inherit>
                {email ?? contactId}
              </Anchor>
            ),
          },
          {
            id: 'status',
            header: t.common.status,
            cell: (recipient) => (
              <Anchor component={Link} to={`/p/${projectId}/emails/${recipient.emailId}`} underline="never">
                <Badge color={colors[recipient.status]}>{t.campaigns.recipientStatuses[recipient.status]}</Badge>
              </Anchor>
            ),
          },
          { id: 'reason', header: t.campaigns.reason, cell: ({ reason }) => reason ?? '—' },
          { id: 'attempts', header: t.campaigns.attempts, align: 'right', cell: ({ attempts }) => number(attempts) },
          { id: 'sentAt', header: t.campaigns.sentAt, cell: ({ sentAt }) => <Time at={sentAt} /> },
        ]}
      />
    </>
  );
}

export function DomainsTab({ campaign }: { campaign: Campaign }) {
  const { client, key } = useApi();
  const { id } = campaign;
  const domains = useQuery({
    queryKey: key('campaign-domains', id),
    queryFn: () => unwrap(client.GET('/campaigns/{id}/domains', { params: { path: { id } } })),
    refetchInterval: everyFewSeconds(campaign),
  });
  const share = (count: number, sent: number) =>
    sent > 0 ? `${number(count)} (${percent(count / sent)})` : number(count);
  return (
    <Loaded query={domains}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon={<IconWorld size={28} />} title={t.campaigns.noDomains} />
        ) : (
          <DataTable
            portable
            label={t.campaigns.tabs.domains}
            rows={data}
            rowId={({ domain }) => domain}
            columns={[
              { id: 'domain', header: t.campaigns.domain, main: true, cell: ({ domain }) => domain },
              { id: 'sent', header: t.campaigns.sent, align: 'right', cell: ({ sent }) => number(sent) },
              ...(['delivered', 'humanOpened', 'humanClicked', 'bounced', 'failed'] as const).map((field) => ({
                id: field,
                header: field === 'failed' ? t.campaigns.outcomes.failedCount : t.campaigns.reactions[`${field}Count`],
                align: 'right' as const,
                cell: (row: (typeof data)[number]) => share(row[field], row.sent),
              })),
            ]}
          />
        )
      }
    </Loaded>
  );
}

export function LinksTab({ campaign }: { campaign: Campaign }) {
  const { client, key } = useApi();
  const { id } = campaign;
  const links = useQuery({
    queryKey: key('campaign-links', id),
    queryFn: () => unwrap(client.GET('/campaigns/{id}/links', { params: { path: { id } } })),
    refetchInterval: everyFewSeconds(campaign),
  });
  return (
    <Loaded query={links}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon={<IconLink size={28} />} title={t.campaigns.noLinks} />
        ) : (
          <DataTable
            portable
            label={t.campaigns.tabs.links}
            rows={data}
            rowId={({ link }) => link}
            columns={[
              { id: 'link', header: t.campaigns.link, main: true, cell: ({ link }) => link },
              { id: 'clicks', header: t.campaigns.clicks, align: 'right', cell: ({ clicks }) => number(clicks) },
              {
                id: 'unique',
                header: t.campaigns.uniqueClicks,
                align: 'right',
                cell: ({ uniqueClicks }) => number(uniqueClicks),
              },
            ]}
          />
        )
      }
    </Loaded>
  );
}

export function ContentTab({ campaign }: { campaign: Campaign }) {
  const { client, key } = useApi();
  const { subject, body, type, from, fromName, replyTo } = campaign;
  const rendered = useQuery({
    queryKey: key('render', subject, body, type),
    queryFn: () => unwrap(client.POST('/render', { body: { subject, body, type } })),
    staleTime: 60_000,
  });
  return (
    <Box p="lg">
      <Text size="sm" c="dimmed" mb="sm" className="breakable">
        {t.campaigns.from}: {fromName ? `${fromName} <${from}>` : from}
        {replyTo && ` · ${t.campaigns.replyTo}: ${replyTo}`}
      </Text>
      <Loaded query={rendered}>
        {(mail) => <MailFrame previewUrl={previewPath(mail.previewUrl)} text={mail.text} subject={mail.subject} />}
      </Loaded>
    </Box>
  );
}
