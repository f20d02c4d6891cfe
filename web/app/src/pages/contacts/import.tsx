import {
  Alert,
  Box,
  Button,
  FileButton,
  Group,
  Progress,
  Select,
  SimpleGrid,
  Stack,
  Stepper,
  Switch,
  Text,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconDownload, IconFileSpreadsheet, IconUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import { accountApi, unwrap, upload } from '../../api/client.ts';
import { useAction, useApi, useCustomFields, useRights } from '../../api/hooks.ts';
import { isOpen, useJob } from '../../api/job.ts';
import { messageOf } from '../../api/problem.ts';
import type { Job } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { type CsvHead, readHead } from './csv.ts';

const EMAIL = 'email';
const SUBSCRIBED = 'subscribed';
const LEAVE_OUT = '\u0000leave-out';
const MEGABYTE = 1024 * 1024;

type Mapping = Record<string, string | null>;

interface Chosen {
  file: File;
  head: CsvHead;
}

interface ImportResult {
  totalRows: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  errors: { row: number; email: string | null; error: string }[];
}

const resultOf = (job: Job): ImportResult => job.result as unknown as ImportResult;
const megabytes = (bytes: number): string =>
  bytes < MEGABYTE ? `${number(Math.ceil(bytes / 1024))} kB` : `${number(Math.round(bytes / MEGABYTE))} MB`;

export function ImportPage() {
  const { projectId } = useApi();
  const { write } = useRights();
  const { job: jobId } = useSearch({ from: '/signed-in/p/$projectId/contacts/import' });
  const navigate = useNavigate({ from: '/p/$projectId/contacts/import' });
  const narrow = useMediaQuery('(max-width: 47.99em)');
  const [chosen, setChosen] = useState<Chosen>();
  const [mapping, setMapping] = useState<Mapping>({});
  const [subscribed, setSubscribed] = useState(true);
  const [dryRunId, setDryRunId] = useState<string>();
  const [sent, setSent] = useState<number>();

  const send = useAction<{ dryRun: boolean }, { jobId: string }>({
    run: ({ dryRun }) => {
      const form = new FormData();
      // Fields before the file: the API reads the form as a stream.
      form.append('mapping', JSON.stringify(mapping));
      form.append('dryRun', String(dryRun));
      form.append('subscribed', String(subscribed));
      if (chosen) form.append('file', chosen.file);
      setSent(0);
      return upload<{ jobId: string }>(projectId, '/imports', form, setSent);
    },
    quiet: true,
    onDone: ({ jobId: started }, { dryRun }) => {
      setSent(undefined);
      if (dryRun) setDryRunId(started);
      else void navigate({ search: { job: started } });
    },
  });
  const step = jobId ? 3 : dryRunId ? 2 : chosen ? 1 : 0;
  const restart = () => {
    setChosen(undefined);
    setDryRunId(undefined);
    void navigate({ search: {} });
  };
  const names = Object.values(t.imports.steps);
  return (
    <Page
      title={t.imports.title}
      description={t.imports.description}
      back={{ to: `/p/${projectId}/contacts`, label: t.contacts.title }}
    >
      <Stepper active={step} size={narrow ? 'xs' : 'sm'} iconSize={narrow ? 28 : 34} allowNextStepsSelect={false}>
        {names.map((label, index) => (
          <Stepper.Step key={label} {...(narrow ? { 'aria-label': `${index + 1} ${label}` } : { label })} />
        ))}
      </Stepper>
      {!write && <Alert color="yellow">{t.common.notAllowed}</Alert>}
      {send.error && <Alert color="red">{messageOf(send.error)}</Alert>}
      {sent !== undefined && send.isPending && (
        <Panel>
          <Text mb="xs">{t.imports.uploading}</Text>
          <Progress value={sent * 100} animated aria-label={t.imports.uploading} />
        </Panel>
      )}
      {write && step === 0 && (
        <FileStep
          onChosen={(file, head) => {
            setChosen({ file, head });
            setMapping(guess(head.columns));
          }}
        />
      )}
      {chosen && step === 1 && (
        <ColumnsStep
          chosen={chosen}
          mapping={mapping}
          onChange={setMapping}
          subscribed={subscribed}
          onSubscribed={setSubscribed}
          busy={send.isPending}
          onCheck={() => send.mutate({ dryRun: true })}
          onBack={restart}
        />
      )}
      {dryRunId && step === 2 && (
        <CheckStep
          jobId={dryRunId}
          busy={send.isPending}
          onBack={() => setDryRunId(undefined)}
          onStart={() => send.mutate({ dryRun: false })}
        />
      )}
      {jobId && <RunStep jobId={jobId} onRestart={restart} />}
    </Page>
  );
}

/** A column named like a field becomes that field. */
function guess(columns: string[]): Mapping {
  const isEmail = (name: string) => /^e-?mail([ _-]?address)?$/i.test(name.trim());
  const emailColumn = columns.find(isEmail) ?? columns.find((name) => /mail/i.test(name));
  return Object.fromEntries(
    columns.map((name) => [
      name,
      name === emailColumn ? EMAIL : /^subscribed$/i.test(name.trim()) ? SUBSCRIBED : name.trim() || null,
    ]),
  );
}

function FileStep({ onChosen }: { onChosen(file: File, head: CsvHead): void }) {
  const config = useQuery({
    queryKey: ['config'],
    queryFn: () => unwrap(accountApi.GET('/config')),
    staleTime: 600_000,
  });
  const limit = config.data?.limits.importBytes ?? 100 * MEGABYTE;
  const [over, setOver] = useState(false);
  const [fault, setFault] = useState<string>();
  const choose = async (file: File | null | undefined) => {
    if (!file) return;
    if (file.size > limit) return setFault(t.imports.tooLarge(megabytes(limit)));
    const head = await readHead(file);
    if (!head) return setFault(t.imports.notCsv);
    setFault(undefined);
    onChosen(file, head);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void choose(event.dataTransfer.files[0]);
  };
  return (
    <Stack>
      {fault && <Alert color="red">{fault}</Alert>}
      <Box
        className="drop-zone"
        data-over={over || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <IconFileSpreadsheet size={44} stroke={1.4} aria-hidden />
        <Text fw={600} size="lg">
          {t.imports.drop}
        </Text>
        <Text c="dimmed" size="sm">
          {t.imports.dropHint(megabytes(limit))}
        </Text>
        <FileButton onChange={(file) => void choose(file)} accept=".csv,text/csv,text/plain">
          {(props) => (
            <Button {...props} mt="sm" leftSection={<IconUpload size={16} />}>
              {t.imports.choose}
            </Button>
          )}
        </FileButton>
      </Box>
    </Stack>
  );
}

interface ColumnsStepProps {
  chosen: Chosen;
  mapping: Mapping;
  onChange(mapping: Mapping): void;
  subscribed: boolean;
  onSubscribed(subscribed: boolean): void;
  busy: boolean;
  onCheck(): void;
  onBack(): void;
}

function ColumnsStep(props: ColumnsStepProps) {
  const { chosen, mapping, onChange, subscribed, onSubscribed, busy, onCheck, onBack } = props;
  const custom = useCustomFields();
  const targets = Object.values(mapping).filter((target): target is string => target !== null);
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  const fault = !targets.includes(EMAIL)
    ? t.imports.needsEmail
    : twice !== undefined
      ? t.imports.twice(twice === EMAIL ? t.imports.email : twice)
      : undefined;
  const optionsFor = (column: string) => {
    const own = column.trim();
    const isNew = own !== '' && !custom.includes(own) && own !== EMAIL && own !== SUBSCRIBED;
    return [
      { value: EMAIL, label: t.imports.email },
      { value: SUBSCRIBED, label: t.imports.subscribed },
      ...(isNew ? [{ value: own, label: t.imports.newField(own) }] : []),
      ...custom.map((field) => ({ value: field, label: field })),
      { value: LEAVE_OUT, label: t.imports.leaveOut },
    ];
  };
  const rows = chosen.head.columns.map((name, index) => ({ name, example: chosen.head.example[index] ?? '', index }));
  return (
    <Panel
      flush
      title={t.imports.columnsTitle}
      description={
        <>
          {t.imports.columnsText} {t.imports.chosen(chosen.file.name, megabytes(chosen.file.size))}
        </>
      }
    >
      <DataTable
        label={t.imports.columnsTitle}
        rows={rows}
        rowId={({ index }) => String(index)}
        columns={[
          { id: 'column', header: t.imports.column, main: true, cell: ({ name }) => name },
          { id: 'example', header: t.imports.example, cell: ({ example }) => example.slice(0, 120) },
          {
            id: 'target',
            header: t.imports.target,
            cell: ({ name }) => (
              <Select
                aria-label={t.imports.targetOf(name)}
                data={optionsFor(name)}
                value={mapping[name] ?? LEAVE_OUT}
                onChange={(value) => onChange({ ...mapping, [name]: value === LEAVE_OUT ? null : value })}
                allowDeselect={false}
                searchable
                miw={170}
              />
            ),
          },
        ]}
      />
      <Stack p="lg">
        <Switch
          label={t.imports.subscribeNew}
          description={t.imports.subscribeNewHint}
          checked={subscribed}
          onChange={(event) => onSubscribed(event.currentTarget.checked)}
        />
        {fault && <Alert color="red">{fault}</Alert>}
        <Group justify="space-between">
          <Button variant="default" onClick={onBack}>
            {t.imports.otherFile}
          </Button>
          <Button onClick={onCheck} disabled={fault !== undefined} loading={busy}>
            {t.imports.check}
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}

interface CheckStepProps {
  jobId: string;
  busy: boolean;
  onBack(): void;
  onStart(): void;
}

function CheckStep({ jobId, busy, onBack, onStart }: CheckStepProps) {
  const job = useJob(jobId, 'import');
  return (
    <Loaded query={job}>
      {(state) => (
        <Panel
          title={isOpen(state) ? t.imports.checkTitle : t.imports.would}
          description={isOpen(state) && t.imports.checking}
        >
          <JobState job={state} label={t.imports.checkTitle} />
          {!isOpen(state) && (
            <Group justify="space-between" mt="lg">
              <Button variant="default" onClick={onBack}>
                {t.imports.changeColumns}
              </Button>
              {state.status === 'COMPLETED' && (
                <Button
                  onClick={onStart}
                  loading={busy}
                  disabled={resultOf(state).totalRows === resultOf(state).failed}
                >
                  {t.imports.start(resultOf(state).totalRows - resultOf(state).failed)}
                </Button>
              )}
            </Group>
          )}
        </Panel>
      )}
    </Loaded>
  );
}

function RunStep({ jobId, onRestart }: { jobId: string; onRestart(): void }) {
  const { client, key, projectId } = useApi();
  const job = useJob(jobId, 'import');
  const cancel = useAction({
    run: () => unwrap(client.POST('/contacts/jobs/{jobId}/cancel', { params: { path: { jobId } } })),
    changes: [key('job', jobId)],
    quiet: true,
  });
  const titleOf = ({ status }: Job) =>
    ({
      QUEUED: t.imports.waiting,
      RUNNING: t.imports.running,
      COMPLETED: t.imports.done,
      FAILED: t.imports.failed,
      CANCELLED: t.imports.cancelled,
    })[status];
  return (
    <Loaded query={job}>
      {(state) => (
        <Panel
          title={titleOf(state)}
          actions={
            isOpen(state) && (
              <ConfirmButton
                danger
                size="xs"
                variant="light"
                label={t.imports.cancel}
                title={t.imports.cancelTitle}
                confirm={t.imports.cancel}
                onConfirm={() => cancel.mutateAsync()}
              >
                {t.imports.cancelText}
              </ConfirmButton>
            )
          }
        >
          <JobState job={state} label={t.imports.running} />
          {!isOpen(state) && (
            <Group mt="lg">
              <Button component={Link} to={`/p/${projectId}/contacts`}>
                {t.imports.toContacts}
              </Button>
              <Button variant="default" onClick={onRestart}>
                {t.imports.another}
              </Button>
            </Group>
          )}
        </Panel>
      )}
    </Loaded>
  );
}

/** Progress, counts and bad rows of an import. */
function JobState({ job, label }: { job: Job; label: string }) {
  const { projectId } = useApi();
  const result = resultOf(job);
  const open = isOpen(job);
  const { errors = [], failed = 0 } = result;
  return (
    <Stack>
      {job.failedReason && <Alert color="red">{job.failedReason}</Alert>}
      <Progress
        size="lg"
        value={job.status === 'COMPLETED' ? 100 : job.total > 0 ? (job.processed / job.total) * 100 : 0}
        animated={open}
        aria-label={label}
      />
      <Text size="sm" c="dimmed" aria-live="polite">
        {t.imports.rows(job.processed, Math.max(job.total, result.totalRows ?? 0))}
      </Text>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        {(['created', 'updated', 'unchanged', 'failed'] as const).map((name) => (
          <Box key={name}>
            <Text size="sm" c="dimmed">
              {t.imports.counts[name]}
            </Text>
            <Text fw={650} size="xl" className="number" data-count={name}>
              {number(result[name] ?? 0)}
            </Text>
          </Box>
        ))}
      </SimpleGrid>
      {errors.length > 0 && (
        <Box>
          <Group justify="space-between" mb="xs">
            <Box>
              <Text fw={600}>{t.imports.badRows}</Text>
              <Text size="sm" c="dimmed">
                {t.imports.badRowsText(Math.min(errors.length, 10), failed)}
              </Text>
            </Box>
            {!open && (
              <Button
                component="a"
                size="xs"
                variant="default"
                leftSection={<IconDownload size={14} />}
                href={`/contacts/import/${job.id}/errors?projectId=${projectId}`}
                download
              >
                {t.imports.downloadBad}
              </Button>
            )}
          </Group>
          <DataTable
            label={t.imports.badRows}
            rows={errors.slice(0, 10)}
            rowId={({ row }) => String(row)}
            columns={[
              { id: 'row', header: t.imports.row, cell: ({ row }) => number(row) },
              { id: 'email', header: t.contacts.email, main: true, cell: ({ email }) => email ?? '—' },
              { id: 'error', header: t.imports.problem, cell: ({ error }) => error },
            ]}
          />
        </Box>
      )}
    </Stack>
  );
}
