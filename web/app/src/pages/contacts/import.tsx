import { Alert, Progress, Stepper, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { upload } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { type Chosen, ColumnsStep, guessMapping, type Mapping } from './import-columns.tsx';
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
      description={narrow ? t.campaigns.stepLabel(step + 1, names.length, names[step] ?? '') : t.imports.description}
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
            setMapping(guessMapping(head.columns));
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
