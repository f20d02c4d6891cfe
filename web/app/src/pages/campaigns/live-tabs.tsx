import { Box, Text } from '@mantine/core';
import { IconLink, IconWorld } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { Campaign } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { hasDeliveryReports } from '../../ui/delivery-reports.ts';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Empty, Loaded } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { RecipientsLink } from './recipients-link.tsx';

export const everyFewSeconds = ({ status }: Campaign): number => (status === 'SENDING' ? 4_000 : 30_000);

const domainFilters = {
  delivered: { outcome: 'DELIVERED' },
  peopleOpened: { outcome: 'OPENED' },
  humanClicked: { outcome: 'CLICKED' },
  bounced: { outcome: 'BOUNCED' },
  failed: { recipients: 'FAILED' },
} as const;

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
  const reported = hasDeliveryReports({ sent: campaign.sentCount, delivered: campaign.deliveredCount });
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
              {
                id: 'sent',
                header: t.campaigns.sent,
                align: 'right',
                cell: ({ domain, sent }) => (
                  <RecipientsLink filter={{ search: `@${domain}`, recipients: 'SENT' }} disabled={domain === 'other'}>
                    {number(sent)}
                  </RecipientsLink>
                ),
              },
              ...(['delivered', 'peopleOpened', 'humanClicked', 'bounced', 'failed'] as const).map((field) => ({
                id: field,
                header: field === 'failed' ? t.campaigns.outcomes.failedCount : t.campaigns.reactions[`${field}Count`],
                align: 'right' as const,
                cell: (row: (typeof data)[number]) =>
                  field === 'delivered' && !reported ? (
                    '—'
                  ) : (
                    <RecipientsLink
                      filter={{ search: `@${row.domain}`, ...domainFilters[field] }}
                      disabled={row.domain === 'other' || row[field] === 0}
                    >
                      {share(row[field], row.sent)}
                    </RecipientsLink>
                  ),
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
            rowId={({ linkId }) => linkId}
            columns={[
              {
                id: 'link',
                header: t.campaigns.link,
                main: true,
                cell: ({ link, text }) => (
                  <Box className="breakable">
                    {text && <Text size="sm">{text}</Text>}
                    <Text size="sm" c={text ? 'dimmed' : undefined} inherit={!text}>
                      {link}
                    </Text>
                  </Box>
                ),
              },
              {
                id: 'people',
                header: t.campaigns.uniqueClicks,
                align: 'right',
                cell: ({ linkId, uniqueHumanClicks }) => (
                  <RecipientsLink filter={{ outcome: 'CLICKED', link: linkId }} disabled={uniqueHumanClicks === 0}>
                    {number(uniqueHumanClicks)}
                  </RecipientsLink>
                ),
              },
              {
                id: 'clicks',
                header: t.campaigns.clicks,
                align: 'right',
                cell: ({ humanClicks }) => number(humanClicks),
              },
              {
                id: 'withMachines',
                header: t.results.withMachines,
                align: 'right',
                cell: ({ clicks }) => number(clicks),
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
