import { Alert, Button, Group, Paper, Progress, Text } from '@mantine/core';
import { IconMailCheck, IconMailOff, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Condition, ConditionFilter } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { isOpen, useJob } from '../../api/job.ts';
import type { Job } from '../../api/types.ts';
import type { ContactsSearch } from '../../search.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';

type BulkAction = 'SUBSCRIBE' | 'UNSUBSCRIBE' | 'DELETE';

interface BulkBarProps {
  selected: ReadonlySet<string>;
  search: ContactsSearch;
  /** How many match the filters. */
  total: number;
  /** How many of them the page has loaded. */
  allOnPage: number;
  onDone(): void;
}

const paths = {
  SUBSCRIBE: '/contacts/bulk-subscribe',
  UNSUBSCRIBE: '/contacts/bulk-unsubscribe',
  DELETE: '/contacts/bulk-delete',
} as const;

/** Actions on the selected contacts, or on all that match the filters, with the progress of the job. */
export function BulkBar({ selected, search, total, allOnPage, onDone }: BulkBarProps) {
  const { client, key } = useApi();
  const [allMatching, setAllMatching] = useState(false);
  const [started, setStarted] = useState<{ jobId: string; action: BulkAction }>();
  useEffect(() => {
    if (selected.size < allOnPage) setAllMatching(false);
  }, [selected, allOnPage]);
  const count = allMatching ? total : selected.size;

  const run = async (action: BulkAction) => {
    const contactIds = [...selected];
    const { jobId } = allMatching
      ? await unwrap(
          client.POST('/contacts/bulk', { body: { action, condition: conditionOf(search), expectedCount: total } }),
        )
      : await unwrap(client.POST(paths[action], { body: { contactIds } }));
    setStarted({ jobId, action });
    setAllMatching(false);
    onDone();
  };
  const allSelected = selected.size > 0 && selected.size === allOnPage && total > allOnPage;
  return (
    <>
      {started && (
        <JobProgress key={started.jobId} {...started} onClose={() => setStarted(undefined)} listKey={key('contacts')} />
      )}
      {count > 0 && (
        <Group className="bulk-bar" role="region" aria-label={t.common.actions} px="md" py="sm" gap="sm">
          <Text size="sm" fw={600} aria-live="polite">
            {allMatching ? t.contacts.allMatchingSelected(total) : t.contacts.selected(count)}
          </Text>
          {allSelected && !allMatching && (
            <Button size="xs" variant="subtle" onClick={() => setAllMatching(true)}>
              {t.contacts.allMatching(total)}
            </Button>
          )}
          <Button size="xs" variant="subtle" onClick={onDone}>
            {t.contacts.clearSelection}
          </Button>
          <Group gap="xs" ml="auto">
            <ConfirmButton
              label={t.contacts.subscribe}
              icon={<IconMailCheck size={16} />}
              size="xs"
              title={t.contacts.subscribeTitle(count)}
              confirm={t.contacts.subscribe}
              onConfirm={() => run('SUBSCRIBE')}
            >
              {t.contacts.subscribeText}
            </ConfirmButton>
            <ConfirmButton
              label={t.contacts.unsubscribe}
              icon={<IconMailOff size={16} />}
              size="xs"
              title={t.contacts.unsubscribeTitle(count)}
              confirm={t.contacts.unsubscribe}
              onConfirm={() => run('UNSUBSCRIBE')}
            >
              {t.contacts.unsubscribeText}
            </ConfirmButton>
            <ConfirmButton
              danger
              label={t.common.delete}
              icon={<IconTrash size={16} />}
              size="xs"
              variant="light"
              title={t.contacts.deleteTitle(count)}
              confirm={t.common.delete}
              onConfirm={() => run('DELETE')}
            >
              {t.contacts.deleteText(count)}
            </ConfirmButton>
          </Group>
        </Group>
      )}
    </>
  );
}

interface JobProgressProps {
  jobId: string;
  action: BulkAction;
  listKey: readonly unknown[];
  onClose(): void;
}

function JobProgress({ jobId, action, listKey, onClose }: JobProgressProps) {
  const { client } = useApi();
  const cache = useQueryClient();
  const { data: job } = useJob(jobId, 'bulk');
  const open = isOpen(job);
  // Once, when the job has ended.
  useEffect(() => {
    if (job && !open) void cache.invalidateQueries({ queryKey: listKey });
  }, [job?.status]);
  const cancel = useAction({
    run: () => unwrap(client.POST('/contacts/jobs/{jobId}/cancel', { params: { path: { jobId } } })),
  });
  if (!job) return null;
  return (
    <Paper mx="md" mb="sm" p="sm" withBorder radius="md">
      <Group justify="space-between" mb={6}>
        <Text size="sm" fw={600}>
          {t.contacts.jobTitle[action]}
        </Text>
        {open ? (
          <Button size="xs" variant="default" onClick={() => cancel.mutate()} loading={cancel.isPending}>
            {t.contacts.cancelJob}
          </Button>
        ) : (
          <Button size="xs" variant="default" onClick={onClose}>
            {t.common.close}
          </Button>
        )}
      </Group>
      <Progress
        value={job.total > 0 ? (job.processed / job.total) * 100 : 0}
        animated={open}
        aria-label={t.contacts.jobTitle[action]}
      />
      <JobOutcome job={job} />
    </Paper>
  );
}

function JobOutcome({ job }: { job: Job }) {
  if (job.failedReason)
    return (
      <Alert color="red" mt="sm">
        {job.failedReason}
      </Alert>
    );
  return (
    <Text size="sm" c="dimmed" mt={6} aria-live="polite">
      {isOpen(job) ? t.contacts.jobProgress(job.processed, job.total) : t.contacts.jobDone(job.processed)}
    </Text>
  );
}

/** The filters of the list as a condition. */
export function conditionOf({ search, subscribed, fields = {} }: ContactsSearch): Condition {
  const filters: ConditionFilter[] = Object.entries(fields).map(([name, value]) => ({
    field: `data.${name}`,
    operator: 'in',
    value: readings(value),
  }));
  if (search) filters.push({ field: 'email', operator: 'contains', value: search });
  if (subscribed !== undefined) filters.push({ field: 'subscribed', operator: 'equals', value: subscribed });
  // Everybody: a condition needs at least one filter.
  if (filters.length === 0) filters.push({ field: 'email', operator: 'contains', value: '@' });
  return { logic: 'AND', groups: [{ filters }] };
}

/** The list compares values as text; a condition tells 5 from "5". */
function readings(text: string): (string | number | boolean)[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  const asNumber = Number(text);
  return text.trim() !== '' && Number.isFinite(asNumber) ? [text, asNumber] : [text];
}
