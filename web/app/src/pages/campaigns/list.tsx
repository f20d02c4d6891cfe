import { Box, Button, Group, Text } from '@mantine/core';
import { IconPlus, IconSearchOff, IconSend } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Campaign } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { asCursorPage, pageOf } from '../../ui/offset-list.ts';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { CampaignStatusBadge } from '../../ui/status.tsx';
import { type Column, CursorTable } from '../../ui/table.tsx';
import { doneCount } from './numbers.ts';
import { type CampaignsSearch, campaignStatuses } from './search.ts';

export function CampaignsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const search = useSearch({ from: '/signed-in/p/$projectId/campaigns' });
  const navigate = useNavigate({ from: '/p/$projectId/campaigns' });
  const change = (next: CampaignsSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const list = useCursorList<Campaign>(
    key('campaigns', search),
    async (cursor) =>
      asCursorPage(
        await unwrap(
          client.GET('/campaigns', { params: { query: { ...search, page: pageOf(cursor), pageSize: 50 } } }),
        ),
      ),
    { refetchInterval: 5_000 },
  );
  const create = write && (
    <ButtonLink to="/p/$projectId/campaigns/new" params={{ projectId }} leftSection={<IconPlus size={16} />}>
      {t.campaigns.new}
    </ButtonLink>
  );
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title={t.campaigns.title} description={t.campaigns.description} actions={create}>
      <Panel flush>
        <Group p="md" gap="sm" className="filters">
          <SearchField
            label={t.campaigns.search}
            value={search.search ?? ''}
            onChange={(text) => change({ search: text || undefined })}
            flex="1 1 14rem"
          />
          <Choice
            label={t.common.status}
            w={180}
            value={search.status ?? 'any'}
            onChange={(value) => change({ status: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.campaigns.anyStatus },
              ...campaignStatuses.map((value) => ({ value, label: t.campaigns.statuses[value] })),
            ]}
          />
        </Group>
        <CursorTable<Campaign>
          label={t.campaigns.title}
          list={list}
          rowId={({ id }) => id}
          columns={columnsOf(projectId)}
          empty={
            isFiltered ? (
              <Empty
                icon={<IconSearchOff size={30} />}
                title={t.campaigns.noMatch}
                action={
                  <Button variant="default" onClick={() => void navigate({ search: {} })}>
                    {t.common.clearFilters}
                  </Button>
                }
              />
            ) : (
              <Empty
                icon={<IconSend size={30} />}
                title={t.campaigns.emptyTitle}
                text={t.campaigns.emptyText}
                action={create}
              />
            )
          }
        />
      </Panel>
    </Page>
  );
}

const columnsOf = (projectId: string): Column<Campaign>[] => [
  {
    id: 'name',
    header: t.common.name,
    main: true,
    cell: ({ id, name, subject }) => (
      <Box>
        <TextLink to="/p/$projectId/campaigns/$id" params={{ projectId, id }} fw={600} inherit>
          {name}
        </TextLink>
        <Text size="sm" c="dimmed" fw={400} lineClamp={1}>
          {subject}
        </Text>
      </Box>
    ),
  },
  {
    id: 'status',
    header: t.common.status,
    cell: (campaign) => (
      <Box miw={110}>
        <CampaignStatusBadge status={campaign.status} paused={campaign.paused} />
        {campaign.status === 'SENDING' && (
          <Progress
            className="under-status"
            value={campaign.totalRecipients > 0 ? (doneCount(campaign) / campaign.totalRecipients) * 100 : 0}
            aria-label={t.campaigns.progress}
          />
        )}
      </Box>
    ),
  },
  {
    id: 'recipients',
    header: t.campaigns.recipients,
    align: 'right',
    cell: ({ totalRecipients, status }) => (status === 'DRAFT' ? '—' : number(totalRecipients)),
  },
  {
    id: 'opened',
    header: t.campaigns.opened,
    align: 'right',
    cell: ({ peopleOpenedCount, sentCount }) => (sentCount > 0 ? percent(peopleOpenedCount / sentCount) : '—'),
  },
  {
    id: 'clicked',
    header: t.campaigns.clicked,
    align: 'right',
    cell: ({ humanClickedCount, sentCount }) => (sentCount > 0 ? percent(humanClickedCount / sentCount) : '—'),
  },
  {
    id: 'date',
    header: t.campaigns.date,
    cell: ({ createdAt, scheduledFor, status, sentAt }) => (
      <Time at={status === 'SCHEDULED' ? scheduledFor : (sentAt ?? createdAt)} />
    ),
  },
];
