import { Alert, Stepper, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useAction, useApi, useCustomFields, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { upload } from '../../api/upload.ts';
import { t } from '../../texts/index.ts';
import { BackLink } from '../../ui/links.tsx';
import { Page, Panel, Placeholder } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { consentFields, noConsent } from '../topics/import-consent.tsx';
import { useTopics } from '../topics/queries.ts';
import {
  type CellType,
  type Chosen,
  ColumnsStep,
  type ColumnTypes,
  guessMapping,
  type Mapping,
  useKnownTypes,
} from './import-columns.tsx';
import { FileStep } from './import-file.tsx';
import { CheckStep, RunStep } from './import-job.tsx';

/** Four steps: the file, its columns, a dry run, the import. A reload finds the running import by the address. */
export function ImportPage() {
  const { projectId } = useApi();
  const { write } = useRights();
  const { job: jobId } = useSearch({ from: '/signed-in/p/$projectId/contacts/import' });
  const navigate = useNavigate({ from: '/p/$projectId/contacts/import' });
  const narrow = useMediaQuery('(max-width: 47.99em)');
  const [chosen, setChosen] = useState<Chosen>();
  const [changes, setChanges] = useState<Mapping>({});
  const [types, setTypes] = useState<ColumnTypes>({});
  const [segmentId, setSegmentId] = useState<string | null>(null);
  const custom = useCustomFields();
  const known = useKnownTypes();
  const { data: topics, isPending: topicsArePending } = useTopics();
  // The fields may arrive after the file is chosen.
  const mapping = useMemo(
    (): Mapping => ({ ...(chosen ? guessMapping(chosen.head.columns, custom, topics ?? []) : {}), ...changes }),
    [chosen, custom, topics, changes],
  );
  const [subscribed, setSubscribed] = useState(true);
  const [consent, setConsent] = useState(noConsent);
  const [dryRunId, setDryRunId] = useState<string>();
  const [sent, setSent] = useState<number>();

  const send = useAction<{ dryRun: boolean }, { jobId: string }>({
    run: ({ dryRun }) => {
      const form = new FormData();
      // Fields before the file: the API reads the form as a stream.
      form.append('mapping', JSON.stringify(mapping));
      form.append('dryRun', String(dryRun));
      form.append('subscribed', String(subscribed));
      form.append('types', JSON.stringify(typesOf(mapping, types, known)));
      for (const [name, value] of Object.entries(consentFields(consent))) form.append(name, value);
      if (segmentId) form.append('segmentId', segmentId);
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
      description={narrow ? t.campaigns.stepLabel(step + 1, names.length, names[step] ?? '') : t.imports.description}
      back={
        <BackLink to="/p/$projectId/contacts" params={{ projectId }}>
          {t.contacts.title}
        </BackLink>
      }
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
            setChanges({});
            setTypes({});
          }}
        />
      )}
      {/* A column of a topic must not be sent as a new field because the topics are not loaded yet. */}
      {chosen && step === 1 && topicsArePending && <Placeholder lines={6} />}
      {chosen && step === 1 && !topicsArePending && (
        <ColumnsStep
          chosen={chosen}
          mapping={mapping}
          onChange={setChanges}
          types={types}
          onTypes={setTypes}
          segmentId={segmentId}
          onSegment={setSegmentId}
          subscribed={subscribed}
          onSubscribed={setSubscribed}
          consent={consent}
          onConsent={setConsent}
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

/** Chosen types, and those of the fields that columns become. */
function typesOf(mapping: Mapping, chosen: ColumnTypes, known: ReadonlyMap<string, CellType>): ColumnTypes {
  const entries = Object.entries(mapping).flatMap(([column, target]) => {
    const type: string | undefined = chosen[column] ?? (target === null ? undefined : known.get(target));
    const isField = target !== null && target !== 'email' && target !== 'subscribed';
    return type !== undefined && type !== 'auto' && isField ? [[column, type as CellType] as const] : [];
  });
  return Object.fromEntries(entries);
}
