import { Badge, Button, Group, Text } from '@mantine/core';
import { IconFilterOff, IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import type { Campaign, Recipient, RecipientStatus } from '../../api/types.ts';
import { dateTime, number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { everyFewSeconds } from './live-tabs.tsx';
import { comparedFilter, RecipientActions, type RecipientFilter } from './recipient-actions.tsx';
import { type CampaignSearch, recipientOutcomes, recipientStatuses } from './search.ts';

const colors: Record<RecipientStatus, string> = {
  PENDING: 'gray',
  SENT: 'teal',
  FAILED: 'red',
  SKIPPED: 'gray',
  CANCELLED: 'gray',
  UNKNOWN: 'orange',
};

const ANY = 'any';
const choices = (anyLabel: string, items: { value: string; label: string }[]) => [
  { value: ANY, label: anyLabel },
  ...items,
];

export function RecipientsTab({ campaign }: { campaign: Campaign }) {
  const { client, key, projectId } = useApi();
  const { tab, recipients: status, ...rest } = useSearch({ from: '/signed-in/p/$projectId/campaigns/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/campaigns/$id' });
  const { id } = campaign;
  const filter: RecipientFilter = { status, ...rest };
  const { outcome, link, reason, search = '' } = filter;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const byLink = outcome === 'CLICKED' || outcome === 'NOT_CLICKED';
  const list = useCursorList<Recipient>(
    key('recipients', id, filter),
    (cursor) =>
      unwrap(
        client.GET('/campaigns/{id}/recipients', {
          params: { path: { id }, query: { ...comparedFilter(filter), cursor, limit: 50 } },
        }),
      ),
    { refetchInterval: everyFewSeconds(campaign) },
  );
  const links = useQuery({
    queryKey: key('campaign-links', id),
    queryFn: () => unwrap(client.GET('/campaigns/{id}/links', { params: { path: { id } } })),
    refetchInterval: everyFewSeconds(campaign),
  });
  const reasons = useQuery({
    queryKey: key('campaign-reasons', id),
    queryFn: () => unwrap(client.GET('/campaigns/{id}/reasons', { params: { path: { id } } })),
    refetchInterval: everyFewSeconds(campaign),
  });
  const change = (next: CampaignSearch) =>
    void navigate({ search: { tab, recipients: status, ...rest, ...next }, replace: true, resetScroll: false });
  const chosen = (value: string) => (value === ANY ? undefined : value);
  const ownReasons = (reasons.data?.data ?? []).filter((one) => !status || one.status === status);
  const linkNames = new Map(links.data?.data.map(({ linkId, text, link: address }) => [linkId, text || address]));
  return (
    <div id="recipients">
      <Group p="md" gap="sm" align="flex-end">
        <SearchField
          label={t.results.search}
          value={search}
          maxLength={320}
          onChange={(text) => change({ search: text || undefined })}
          flex="1 1 14rem"
        />
        <Choice
          label={t.common.status}
          value={status ?? ANY}
          onChange={(value) =>
            change({ recipients: recipientStatuses.find((one) => one === value), reason: undefined })
          }
          data={choices(
            t.results.anyStatus,
            recipientStatuses.map((value) => ({ value, label: t.campaigns.recipientStatuses[value] })),
          )}
        />
        <Choice
          label={t.results.outcome}
          value={outcome ?? ANY}
          onChange={(value) => change({ outcome: recipientOutcomes.find((one) => one === value), link: undefined })}
          data={choices(
            t.results.anyOutcome,
            recipientOutcomes.map((value) => ({ value, label: t.results.outcomes[value] })),
          )}
        />
        {byLink && (linkNames.size > 0 || link !== undefined) && (
          <Choice
            label={t.results.link}
            w={220}
            value={link ?? ANY}
            onChange={(value) => change({ link: chosen(value) })}
            data={choices(t.results.anyLink, namedOptions(linkNames, link))}
          />
        )}
        {(ownReasons.length > 0 || reason !== undefined) && outcome === undefined && (
          <Choice
            label={t.results.reason}
            w={220}
            value={reason ?? ANY}
            onChange={(value) => change({ reason: chosen(value) })}
            data={choices(
              t.results.anyReason,
              namedOptions(
                new Map(ownReasons.map((one) => [one.reason, t.results.reasonCount(one.reason, one.count)])),
                reason,
              ),
            )}
          />
        )}
        {isFiltered && (
          <Button
            variant="subtle"
            leftSection={<IconFilterOff size={16} />}
            onClick={() => void navigate({ search: { tab }, replace: true, resetScroll: false })}
          >
            {t.results.clearFilters}
          </Button>
        )}
        <RecipientActions
          campaign={campaign}
          filter={filter}
          total={list.data?.pages[0]?.total}
          failed={ownReasons.filter((one) => one.status === 'FAILED').reduce((sum, { count }) => sum + count, 0)}
        />
      </Group>
      <CursorTable<Recipient>
        label={t.campaigns.recipients}
        list={list}
        rowId={({ emailId }) => emailId}
        empty={
          <Empty icon={<IconUsers size={28} />} title={isFiltered ? t.results.noMatch : t.campaigns.noRecipients} />
        }
        columns={[
          {
            id: 'email',
            header: t.contacts.email,
            main: true,
            cell: ({ email, contactId }) => (
              <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: contactId }} inherit>
                {email ?? contactId}
              </TextLink>
            ),
          },
          {
            id: 'status',
            header: t.common.status,
            cell: (recipient) => (
              <>
                <TextLink to="/p/$projectId/emails/$id" params={{ projectId, id: recipient.emailId }} underline="never">
                  <Badge color={colors[recipient.status]}>{t.campaigns.recipientStatuses[recipient.status]}</Badge>
                </TextLink>
                {recipient.reason && (
                  <Text size="xs" c="dimmed" mt={2} className="breakable">
                    {recipient.reason}
                    {recipient.postponedUntil && `, ${t.timing.until(dateTime(recipient.postponedUntil))}`}
                  </Text>
                )}
              </>
            ),
          },
          { id: 'openedAt', header: t.results.opened, cell: ({ openedAt }) => <Time at={openedAt} /> },
          {
            id: 'clickedAt',
            header: t.results.clicked,
            cell: ({ clickedAt, links: clicked }) => (
              <span title={clicked.map((linkId) => linkNames.get(linkId) ?? '').join('\n') || undefined}>
                <Time at={clickedAt} />
                {clicked.length > 0 && (
                  <Text size="xs" c="dimmed" className="breakable">
                    {linkNames.get(clicked[0] ?? '') ?? ''}
                    {clicked.length > 1 && ` +${number(clicked.length - 1)}`}
                  </Text>
                )}
              </span>
            ),
          },
          { id: 'bouncedAt', header: t.results.bounced, cell: ({ bouncedAt }) => <Time at={bouncedAt} /> },
          { id: 'sentAt', header: t.campaigns.sentAt, cell: ({ sentAt }) => <Time at={sentAt} /> },
        ]}
      />
    </div>
  );
}

/** The chosen one is always among them, also while they load. */
function namedOptions(names: ReadonlyMap<string, string>, chosen: string | undefined) {
  const options = [...names].map(([value, label]) => ({ value, label }));
  return chosen === undefined || names.has(chosen) ? options : [...options, { value: chosen, label: chosen }];
}
