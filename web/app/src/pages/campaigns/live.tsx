import { Alert, Badge, Box, Button, Group, Paper, SimpleGrid, Stack, Tabs, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconCopy,
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconSquareX,
  IconTrash,
} from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import type { Campaign } from '../../api/types.ts';
import { dateTime, duration, number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { hasDeliveryReports } from '../../ui/delivery-reports.ts';
import { ConfirmButton, ConfirmDialog } from '../../ui/dialog.tsx';
import { BackLink, ButtonLink } from '../../ui/links.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { StackedProgress } from '../../ui/progress.tsx';
import { CampaignStatusBadge } from '../../ui/status.tsx';
import { ContentTab, DomainsTab, LinksTab } from './live-tabs.tsx';
import { doneCount, hasStarted, outcomeStatus, outcomes, reactionFilters, reactions } from './numbers.ts';
import { RecipientsLink } from './recipients-link.tsx';
import { RecipientsTab } from './recipients-tab.tsx';
import { TimelinePanel } from './timeline.tsx';

export function CampaignPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/campaigns/$id' });
  const cache = useQueryClient();
  const queryKey = key('campaign', id);
  const campaign = useQuery({
    queryKey,
    queryFn: () => unwrap(client.GET('/campaigns/{id}', { params: { path: { id } } })),
    // The stream is live; reading now and then covers one that broke, and late reactions.
    refetchInterval: ({ state }) => (state.data?.status === 'SENDING' ? 5_000 : 30_000),
  });
  const isLive = campaign.data?.status === 'SENDING' || campaign.data?.status === 'SCHEDULED';
  useLive([`campaign:${id}`], ({ data }) => cache.setQueryData(queryKey, data), isLive);
  const back = (
    <BackLink to="/p/$projectId/campaigns" params={{ projectId }}>
      {t.campaigns.title}
    </BackLink>
  );
  const { data } = campaign;
  // The tabs are read less often while nothing is sent: the last mails of a run must be in them.
  useEffect(() => {
    for (const name of ['recipients', 'campaign-domains', 'campaign-links', 'campaign-reasons', 'campaign-timeline'])
      void cache.invalidateQueries({ queryKey: key(name, id) });
  }, [data?.status, data?.pendingCount === 0]);
  if (!data)
    return (
      <Page title={t.campaigns.title} back={back}>
        <Loaded query={campaign}>{() => null}</Loaded>
      </Page>
    );
  return (
    <Page
      title={data.name}
      back={back}
      badge={<CampaignStatusBadge status={data.status} paused={data.paused} />}
      description={data.subject}
      actions={<CampaignActions campaign={data} />}
    >
      {data.pauseReason && data.paused && (
        <Alert color="orange" icon={<IconAlertTriangle />}>
          {pauseText(data)}
        </Alert>
      )}
      {data.status === 'SCHEDULED' && data.scheduledFor && (
        <Alert
          color="violet"
          title={
            data.localTime
              ? t.timing.startsByClocks(dateTime(data.localTime))
              : t.campaigns.startsAt(dateTime(data.scheduledFor))
          }
        >
          {t.campaigns.wouldReach(data.totalRecipients)}{' '}
          {data.localTime && t.timing.firstPlace(dateTime(data.scheduledFor))}
        </Alert>
      )}
      {data.status === 'CANCELLED' && !hasStarted(data) && <Alert color="gray">{t.campaigns.cancelledBefore}</Alert>}
      {data.unknownCount > 0 && <UnknownAlert campaign={data} />}
      {hasStarted(data) && <ProgressPanel campaign={data} />}
      {hasStarted(data) && <Reactions campaign={data} />}
      {data.sentCount > 0 && <TimelinePanel campaign={data} />}
      <DetailTabs campaign={data} />
    </Page>
  );
}

function pauseText({ pausedBy, pauseReason }: Campaign): string {
  if (!pausedBy || pausedBy.type === 'SYSTEM') return t.campaigns.pauseReason(pauseReason ?? '');
  if (pausedBy.name === null) return t.results.pausedByUnknown;
  return pausedBy.type === 'USER' ? t.results.pausedBy(pausedBy.name) : t.results.pausedByKey(pausedBy.name);
}

function CampaignActions({ campaign }: { campaign: Campaign }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const [deleting, { open, close }] = useDisclosure();
  const { id, name, status, paused } = campaign;
  const params = { params: { path: { id } } };
  const changes = [key('campaign', id), key('campaigns')];
  const pause = useAction({
    run: () => unwrap(client.POST('/campaigns/{id}/pause', params)),
    done: () => t.campaigns.paused,
    changes,
  });
  const resume = useAction({
    run: () => unwrap(client.POST('/campaigns/{id}/resume', params)),
    done: () => t.campaigns.resumed,
    changes,
  });
  const cancel = useAction({
    run: () => unwrap(client.POST('/campaigns/{id}/cancel', params)),
    done: (cancelled) => (hasStarted(cancelled) ? t.campaigns.cancelled : t.campaigns.cancelledAll),
    changes,
    quiet: true,
  });
  const unschedule = useAction({
    run: () => unwrap(client.POST('/campaigns/{id}/unschedule', params)),
    done: () => t.results.unscheduled,
    changes,
    quiet: true,
  });
  const duplicate = useAction({
    run: () => unwrap(client.POST('/campaigns/{id}/duplicate', params)),
    done: (copy) => t.campaigns.duplicated(copy.name),
    changes: [key('campaigns')],
    onDone: (copy) => void navigate({ to: '/p/$projectId/campaigns/$id/edit', params: { projectId, id: copy.id } }),
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/campaigns/{id}', params)),
    done: () => t.campaigns.deleted(name),
    changes: [key('campaigns')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/campaigns', params: { projectId } }),
  });
  if (!write) return null;
  const isSending = status === 'SENDING';
  const canDelete = status === 'DRAFT' || status === 'SENT' || status === 'CANCELLED';
  return (
    <>
      {(status === 'DRAFT' || status === 'SCHEDULED') && (
        <ButtonLink
          to="/p/$projectId/campaigns/$id/edit"
          params={{ projectId, id }}
          leftSection={<IconPencil size={16} />}
        >
          {status === 'DRAFT' ? t.campaigns.continue : t.campaigns.edit}
        </ButtonLink>
      )}
      {isSending &&
        (paused ? (
          <Button leftSection={<IconPlayerPlay size={16} />} onClick={() => resume.mutate()} loading={resume.isPending}>
            {t.campaigns.resume}
          </Button>
        ) : (
          <Button
            variant="default"
            leftSection={<IconPlayerPause size={16} />}
            onClick={() => pause.mutate()}
            loading={pause.isPending}
          >
            {t.campaigns.pause}
          </Button>
        ))}
      {status === 'SCHEDULED' && (
        <ConfirmButton
          label={t.results.unschedule}
          icon={<IconArrowBackUp size={16} />}
          title={t.results.unscheduleTitle(name)}
          confirm={t.results.unschedule}
          keep={t.results.keepScheduled}
          onConfirm={() => unschedule.mutateAsync()}
        >
          {t.results.unscheduleText}
        </ConfirmButton>
      )}
      {status === 'SCHEDULED' && (
        <ConfirmButton
          danger
          variant="light"
          label={t.campaigns.cancelAll}
          icon={<IconSquareX size={16} />}
          title={t.campaigns.cancelAllTitle(name)}
          confirm={t.campaigns.cancelAll}
          keep={t.results.keepScheduled}
          onConfirm={() => cancel.mutateAsync()}
        >
          {t.campaigns.cancelAllText}
        </ConfirmButton>
      )}
      {isSending && (
        <ConfirmButton
          danger
          variant="light"
          label={t.campaigns.cancelRest}
          icon={<IconSquareX size={16} />}
          title={t.campaigns.cancelTitle(campaign.pendingCount)}
          confirm={t.campaigns.cancelAll}
          keep={t.results.keepSending}
          onConfirm={() => cancel.mutateAsync()}
        >
          {t.campaigns.cancelText(name)}
        </ConfirmButton>
      )}
      <MenuButton
        items={[
          {
            key: 'duplicate',
            label: t.common.duplicate,
            icon: <IconCopy size={16} />,
            onClick: () => duplicate.mutate(),
          },
          ...(canDelete
            ? [{ key: 'delete', label: t.common.delete, icon: <IconTrash size={16} />, danger: true, onClick: open }]
            : []),
        ]}
      >
        {(props) => (
          <Button variant="default" px="sm" aria-label={t.common.moreActions} {...props}>
            <IconDots size={18} />
          </Button>
        )}
      </MenuButton>
      <ConfirmDialog
        danger
        opened={deleting}
        onClose={close}
        title={t.campaigns.deleteTitle(name)}
        confirm={t.common.delete}
        onConfirm={() => remove.mutateAsync()}
      >
        {t.campaigns.deleteText}
      </ConfirmDialog>
    </>
  );
}

/** Mails a second, from what arrived during the last ten seconds. */
function useRate(campaign: Campaign): number | undefined {
  const samples = useRef<{ at: number; done: number }[]>([]);
  const [rate, setRate] = useState<number>();
  const done = doneCount(campaign);
  useEffect(() => {
    const at = Date.now();
    samples.current = [...samples.current.filter((sample) => at - sample.at < 10_000), { at, done }];
    const [first] = samples.current;
    if (first && at - first.at >= 900) setRate((done - first.done) / ((at - first.at) / 1000));
  }, [done]);
  return campaign.status === 'SENDING' && !campaign.paused ? rate : undefined;
}

function ProgressPanel({ campaign }: { campaign: Campaign }) {
  const { totalRecipients: total, estimatedSecondsLeft: left, status, paused } = campaign;
  const done = doneCount(campaign);
  const rate = useRate(campaign);
  const share = (count: number) => (total > 0 ? (count / total) * 100 : 0);
  const moving = status === 'SENDING' && !paused;
  return (
    <Panel>
      <Group justify="space-between" align="baseline" mb="sm">
        <Group gap="sm" align="baseline" aria-live="polite">
          <Text className="big-number">{total > 0 ? percent(done / total) : '—'}</Text>
          <Text c="dimmed">{t.campaigns.progressText(done, total)}</Text>
        </Group>
        {moving && (
          <Text c="dimmed">
            {[
              rate !== undefined && t.campaigns.perSecond(Math.round(rate)),
              left !== null && t.campaigns.left(duration(left)),
              campaign.localTime && t.timing.atTheirClock(dateTime(campaign.localTime)),
              campaign.sendUntil && t.timing.until(dateTime(campaign.sendUntil)),
            ]
              .filter(Boolean)
              .join(' · ')}
          </Text>
        )}
      </Group>
      <StackedProgress
        parts={outcomes
          .filter(({ field }) => field !== 'pendingCount' && campaign[field] > 0)
          .map(({ field, color }) => ({
            label: t.campaigns.outcomes[field],
            value: share(campaign[field]),
            color,
            animated: moving && field === 'sentCount',
          }))}
      />
      <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} mt="md" spacing="sm">
        {outcomes.map(({ field, color }) => (
          <Box key={field} className="figure">
            <Group gap={6} wrap="nowrap" align="baseline">
              <Box className="dot" bg={color} aria-hidden />
              <Text size="sm" c="dimmed" lh={1.25}>
                {t.campaigns.outcomes[field]}
              </Text>
            </Group>
            <Text fw={650} size="lg" className="number" data-outcome={field}>
              <RecipientsLink filter={{ recipients: outcomeStatus[field] }} disabled={campaign[field] === 0}>
                {number(campaign[field])}
              </RecipientsLink>
            </Text>
          </Box>
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt="sm">
        {t.campaigns.sumNote(number(total))}
      </Text>
    </Panel>
  );
}

/** What is counted of machines too. An email of which a person clicked a link is opened, with or without its images. */
const withMachines = {
  peopleOpenedCount: ({ openedCount }: Campaign) => t.campaigns.loadedImages(number(openedCount)),
  humanClickedCount: ({ clickedCount }: Campaign) => t.campaigns.withMachines(number(clickedCount)),
};

function Reactions({ campaign }: { campaign: Campaign }) {
  const { sentCount, deliveredCount } = campaign;
  const unknown = (field: (typeof reactions)[number]) =>
    field === 'deliveredCount' && !hasDeliveryReports({ sent: sentCount, delivered: deliveredCount });
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="md">
      {reactions.map((field) => (
        <Paper key={field} withBorder p="md" className="figure">
          <Text size="sm" c="dimmed">
            {t.campaigns.reactions[field]}
          </Text>
          <Text fw={650} size="xl" className="number" data-reaction={field}>
            {unknown(field) ? (
              '—'
            ) : (
              <RecipientsLink filter={reactionFilters[field]} disabled={campaign[field] === 0}>
                {number(campaign[field])}
              </RecipientsLink>
            )}
          </Text>
          <Text size="xs" c="dimmed">
            {unknown(field)
              ? t.results.noReports
              : sentCount > 0
                ? t.campaigns.ofSent(percent(campaign[field] / sentCount))
                : '—'}
          </Text>
          {field in withMachines && (
            <Text size="xs" c="dimmed">
              {withMachines[field as keyof typeof withMachines](campaign)}
            </Text>
          )}
        </Paper>
      ))}
    </SimpleGrid>
  );
}

function UnknownAlert({ campaign }: { campaign: Campaign }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const { id, unknownCount } = campaign;
  const resolve = useAction({
    run: (action: 'resend' | 'close') =>
      unwrap(client.POST('/campaigns/{id}/resolve', { params: { path: { id } }, body: { action } })),
    done: ({ resolved }) => t.campaigns.resolved(resolved),
    changes: [key('campaign', id), key('recipients', id)],
    quiet: true,
  });
  return (
    <Alert color="orange" icon={<IconAlertTriangle />} title={t.campaigns.unknownTitle(unknownCount)}>
      <Stack gap="sm" align="flex-start">
        {t.campaigns.unknownText}
        {write && (
          <Group gap="sm">
            <ConfirmButton
              label={t.campaigns.resend}
              size="xs"
              title={t.campaigns.resendTitle(unknownCount)}
              confirm={t.campaigns.resend}
              onConfirm={() => resolve.mutateAsync('resend')}
            >
              {t.campaigns.resendText}
            </ConfirmButton>
            <ConfirmButton
              label={t.campaigns.close}
              size="xs"
              title={t.campaigns.closeTitle(unknownCount)}
              confirm={t.campaigns.close}
              onConfirm={() => resolve.mutateAsync('close')}
            >
              {t.campaigns.closeText}
            </ConfirmButton>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

function DetailTabs({ campaign }: { campaign: Campaign }) {
  const names = t.campaigns.tabs;
  const search = useSearch({ from: '/signed-in/p/$projectId/campaigns/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/campaigns/$id' });
  const first = hasStarted(campaign) ? 'recipients' : 'content';
  const tab = search.tab !== undefined && search.tab in names ? search.tab : first;
  return (
    <Panel flush>
      <Tabs
        value={tab}
        onChange={(next) => void navigate({ search: { ...search, tab: next ?? undefined }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List px="md" pt="xs">
          {Object.entries(names).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
              {value === 'recipients' && hasStarted(campaign) && campaign.totalRecipients > 0 && (
                <Badge size="sm" color="gray" ml={6}>
                  {number(campaign.totalRecipients)}
                </Badge>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="recipients">
          <RecipientsTab campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="domains">
          <DomainsTab campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="links">
          <LinksTab campaign={campaign} />
        </Tabs.Panel>
        <Tabs.Panel value="content">
          <ContentTab campaign={campaign} />
        </Tabs.Panel>
      </Tabs>
    </Panel>
  );
}
