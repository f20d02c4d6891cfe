import { Alert, Box, Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useProject } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Project } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Copyable } from '../../ui/controls.tsx';
import { Panel, Placeholder } from '../../ui/page.tsx';

export function PolicyTab() {
  const project = useProject();
  return (
    <Panel title={t.developers.policy} description={t.developers.policyText}>
      {project ? <PolicyForm key={project.id} project={project} /> : <Placeholder lines={4} />}
    </Panel>
  );
}

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

function PolicyForm({ project: { id, publicKey, publicKeyPolicy } }: { project: Project }) {
  const form = useForm({
    initialValues: {
      origins: publicKeyPolicy.origins.join('\n'),
      events: publicKeyPolicy.events.join('\n'),
    },
  });
  const save = useAction({
    run: ({ origins, events }: typeof form.values) =>
      unwrap(
        accountApi.PATCH('/users/@me/projects/{id}', {
          params: { path: { id } },
          body: { publicKeyPolicy: { origins: linesOf(origins), events: linesOf(events) } },
        }),
      ),
    done: () => t.developers.policySaved,
    changes: [['projects']],
    quiet: true,
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <Box>
          <Text size="sm" c="dimmed">
            {t.developers.publicKey}
          </Text>
          <Copyable value={publicKey} label={t.developers.publicKey} />
        </Box>
        {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
        <Textarea
          label={t.developers.origins}
          description={t.developers.originsHint}
          autosize
          minRows={3}
          maxRows={12}
          {...form.getInputProps('origins')}
        />
        <Textarea
          label={t.developers.events}
          description={t.developers.eventsHint}
          autosize
          minRows={3}
          maxRows={12}
          {...form.getInputProps('events')}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            {t.common.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
