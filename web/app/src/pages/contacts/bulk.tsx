import './bulk.css';
import { Alert, Button, Group, Paper, Text } from '@mantine/core';
import { IconMailCheck, IconMailOff, IconTableExport, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import type { Condition, ConditionFilter, RunBulkActionRequest } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { isOpen, useJob } from '../../api/job.ts';
import type { Contact, Job } from '../../api/types.ts';
import { valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { showDone, showProblem } from '../../ui/notify.ts';
import { Progress } from '../../ui/progress.tsx';
import { saveCsv } from '../analytics/export.ts';
import { ChangeTopicButton } from '../topics/lazy.tsx';
import { contactsQuery } from './query.ts';
import type { ContactsSearch } from './search.ts';

const dialogs = () => import('./bulk-dialogs.tsx');
const AddToSegmentButton = lazy(() => dialogs().then(({ AddToSegmentButton }) => ({ default: AddToSegmentButton })));
const SetFieldButton = lazy(() => dialogs().then(({ SetFieldButton }) => ({ default: SetFieldButton })));

type TitledAction = 'SUBSCRIBE' | 'UNSUBSCRIBE' | 'DELETE' | 'ADD_TO_SEGMENT' | 'SET_FIELD';
type BulkAction = TitledAction | 'TOPIC_SUBSCRIBE' | 'TOPIC_UNSUBSCRIBE';

/** What an action needs besides the contacts. */
type Options = Pick<RunBulkActionRequest, 'toSegmentId' | 'field' | 'value' | 'topicId'>;

/** A search by name is no condition: its contacts are named one by one, as many as one filter takes. */
const MOST_NAMED = 1_000;

interface BulkBarProps {
  selected: ReadonlySet<string>;
  search: ContactsSearch;
  /** How many match the filters. */
  total: number;
  /** Those that the page has loaded. */
  rows: Contact[];
  /** Names of custom fields. */
  fields: string[];
  onDone(): void;
}

/** Actions on the selected contacts, or on all that match the filters, with the progress of the job. */
export function BulkBar({ selected, search, total, rows, fields, onDone }: BulkBarProps) {
  const allOnPage = rows.length;
  const { client, key } = useApi();
  const [allMatching, setAllMatching] = useState(false);
  const [started, setStarted] = useState<{ jobId: string; title: string }>();
  useEffect(() => {
    if (selected.size < allOnPage) setAllMatching(false);
  }, [selected, allOnPage]);
  const count = allMatching ? total : selected.size;

  /** All contacts that match the filters. */
  const readAll = async (): Promise<Contact[]> => {
    const found: Contact[] = [];
    for (let cursor: string | undefined; found.length < total; ) {
      const page = await unwrap(
        client.GET('/contacts', { params: { query: { ...contactsQuery(search, cursor), limit: 100 } } }),
      );
      found.push(...page.data);
      if (!page.hasMore || !page.cursor) break;
      cursor = page.cursor;
    }
    return found;
  };
  const chosenContacts = async (): Promise<Contact[]> =>
    allMatching ? readAll() : rows.filter(({ id }) => selected.has(id));
  const run = async (action: BulkAction, options: Options, title: string) => {
    const isByName = search.query !== undefined || search.importId !== undefined;
    if (count > MOST_NAMED && (isByName || !allMatching)) throw new Error(t.contactLists.tooManyForFilter(MOST_NAMED));
    const condition = allMatching && !isByName ? conditionOf(search) : named(await chosenContacts());
    const body = { action, condition, expectedCount: count, ...options };
    const { jobId } = await unwrap(client.POST('/contacts/bulk', { body }));
    setStarted({ jobId, title });
    setAllMatching(false);
    onDone();
  };
  const runTitled = (action: TitledAction, options: Options = {}) => run(action, options, jobTitles()[action]);
  const exportChosen = async () => {
    const contacts = await chosenContacts();
    saveCsv('contacts.csv', [
      ['email', 'subscribed', ...fields],
      ...contacts.map(({ email, subscribed, data }) => [
        email,
        String(subscribed),
        ...fields.map((field) => valueText(data[field])),
      ]),
    ]);
    showDone(t.contactLists.exported(contacts.length));
  };
  const allSelected = selected.size > 0 && selected.size === allOnPage && total > allOnPage;
  return (
    <>
      {started && (
        <JobProgress
          key={started.jobId}
          {...started}
          onClose={() => setStarted(undefined)}
          changes={[key('contacts'), key('contact-fields'), key('segments')]}
        />
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
              onConfirm={() => runTitled('SUBSCRIBE')}
            >
              {t.contacts.subscribeText}
            </ConfirmButton>
            <ConfirmButton
              label={t.contacts.unsubscribe}
              icon={<IconMailOff size={16} />}
              size="xs"
              title={t.contacts.unsubscribeTitle(count)}
              confirm={t.contacts.unsubscribe}
              onConfirm={() => runTitled('UNSUBSCRIBE')}
            >
              {t.contacts.unsubscribeText}
            </ConfirmButton>
            <Suspense>
              <AddToSegmentButton count={count} onRun={(toSegmentId) => runTitled('ADD_TO_SEGMENT', { toSegmentId })} />
              <SetFieldButton count={count} fields={fields} onRun={(options) => runTitled('SET_FIELD', options)} />
              <ChangeTopicButton count={count} onRun={(action, topicId, title) => run(action, { topicId }, title)} />
            </Suspense>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconTableExport size={16} />}
              onClick={() => void exportChosen().catch(showProblem)}
            >
              {t.contactLists.exportSelected}
            </Button>
            <ConfirmButton
              danger
              label={t.common.delete}
              icon={<IconTrash size={16} />}
              size="xs"
              variant="light"
              title={t.contacts.deleteTitle(count)}
              confirm={t.common.delete}
              onConfirm={() => runTitled('DELETE')}
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
  title: string;
  /** Of what the job changes. */
  changes: (readonly unknown[])[];
  onClose(): void;
}

function JobProgress({ jobId, title, changes, onClose }: JobProgressProps) {
  const { client } = useApi();
  const cache = useQueryClient();
  const { data: job } = useJob(jobId, 'bulk');
  const open = isOpen(job);
  // Once, when the job has ended.
  useEffect(() => {
    if (job && !open) for (const queryKey of changes) void cache.invalidateQueries({ queryKey });
  }, [job?.status]);
  const cancel = useAction({
    run: () => unwrap(client.POST('/contacts/jobs/{jobId}/cancel', { params: { path: { jobId } } })),
  });
  if (!job) return null;
  return (
    <Paper mx="md" mb="sm" p="sm" withBorder radius="md">
      <Group justify="space-between" mb={6}>
        <Text size="sm" fw={600}>
          {title}
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
      <Progress value={job.total > 0 ? (job.processed / job.total) * 100 : 0} animated={open} aria-label={title} />
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

const jobTitles = (): Record<TitledAction, string> => ({ ...t.contacts.jobTitle, ...t.contactLists.jobTitle });

/** A condition that names each contact. */
const named = (contacts: Contact[]): Condition => ({
  logic: 'AND',
  groups: [{ filters: [{ field: 'email', operator: 'in', value: contacts.map(({ email }) => email) }] }],
});

/** The filters of the list as a condition, without a search by name. */
function conditionOf({ search, subscribed, fields = {} }: ContactsSearch): Condition {
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

/** The list compares values as text; a condition distinguishes 5 from "5". */
function readings(text: string): (string | number | boolean)[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  const asNumber = Number(text);
  return text.trim() !== '' && Number.isFinite(asNumber) ? [text, asNumber] : [text];
}
