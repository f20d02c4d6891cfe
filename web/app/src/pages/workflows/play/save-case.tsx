import { Alert, Button, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconDeviceFloppy } from '@tabler/icons-react';
import { useState } from 'react';
import { unwrap } from '../../../api/client.ts';
import { useAction, useApi } from '../../../api/hooks.ts';
import type { Simulation } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { FormDialog } from '../../../ui/form-dialog.tsx';
import type { PlayedGraph, PlayedInput } from './scenario.ts';

interface SaveCaseProps {
  workflowId: string;
  input: PlayedInput;
  simulation: Simulation;
  /** What was played; the case is run against it at once. */
  graph: PlayedGraph;
}

/** Saves what was played as a case, with the path that it took as the expected one. */
export function SaveCase({ workflowId, input, simulation, graph }: SaveCaseProps) {
  const { client, key } = useApi();
  const [opened, { open, close }] = useDisclosure();
  const form = useForm({ initialValues: { name: '' } });
  const [result, setResult] = useState<{ name: string; passed: boolean; message: string | undefined }>();
  const params = { path: { id: workflowId } };
  const save = useAction({
    run: async (name: string) => {
      const { contact, context, startAt, events } = input;
      const saved = await unwrap(
        client.POST('/workflows/{id}/cases', {
          params,
          body: {
            name,
            contact,
            context,
            startAt,
            events: events.map(({ after, ...event }) => ({ ...event, at: after })),
            expect: simulation.path.map(({ stepId, branch }) => ({ stepId, branch })),
          },
        }),
      );
      const run = await unwrap(client.POST('/workflows/{id}/cases/run', { params, body: { graph, ids: [saved.id] } }));
      return { name: saved.name, passed: run.passed === 1, message: run.results[0]?.difference?.message };
    },
    changes: [key('workflow-cases', workflowId)],
    onDone: (saved) => {
      setResult(saved);
      form.reset();
      close();
    },
    quiet: true,
  });
  return (
    <>
      <Button variant="default" leftSection={<IconDeviceFloppy size={16} />} onClick={open}>
        {t.playback.saveCase}
      </Button>
      {result && (
        <Alert color={result.passed ? 'teal' : 'red'} role="status" w="100%">
          <span className="breakable">
            {result.passed ? t.playback.casePassed(result.name) : t.playback.caseFailed(result.name)}
            {result.message && ` ${result.message}`}
          </span>
        </Alert>
      )}
      <FormDialog
        opened={opened}
        onClose={close}
        title={t.playback.saveCaseTitle}
        intro={<Text size="sm">{t.playback.saveCaseText(simulation.path.length)}</Text>}
        error={save.error}
        busy={save.isPending}
        submit={t.playback.save}
        onSubmit={form.onSubmit(({ name }) => save.mutate(name.trim()))}
      >
        <TextInput
          label={t.playback.caseName}
          required
          maxLength={255}
          data-autofocus
          {...form.getInputProps('name')}
        />
      </FormDialog>
    </>
  );
}
