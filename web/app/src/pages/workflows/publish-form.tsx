import { Alert, Box, Button, Checkbox, Group, List, Loader, Radio, Stack, Text, Textarea, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { ApiProblem, messageOf } from '../../api/problem.ts';
import type { WorkflowDetail } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { type Compared, diffOf } from './canvas/diff.ts';
import { DiffList } from './canvas/diff-list.tsx';
import type { DraftContent, DraftStep } from './canvas/model.ts';
import { draftKey } from './canvas/use-draft.ts';
import type { PublishProps } from './publish.tsx';

/** Says what the publication would do and change, and publishes. */
export function PublishForm({ workflow, editing, onClose }: PublishProps & { onClose(): void }) {
  const { client, key } = useApi();
  const cache = useQueryClient();
  const { id } = workflow;
  const path = { params: { path: { id } } };
  const [note, setNote] = useState('');
  const [migrate, setMigrate] = useState<'NONE' | 'POSSIBLE'>('POSSIBLE');
  const [mustPass, setMustPass] = useState(true);
  const [enable, setEnable] = useState(true);
  // The preview is that of the server's draft: everything is saved first.
  const preview = useQuery({
    queryKey: key('publish-preview', id),
    queryFn: async () => {
      await editing.flush();
      const [found, cases] = await Promise.all([
        unwrap(client.POST('/workflows/{id}/publish/preview', path)),
        unwrap(client.GET('/workflows/{id}/cases', { params: { path: { id }, query: { limit: 1 } } })),
      ]);
      return { ...found, caseCount: cases.total };
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const publish = useAction({
    run: async () => {
      const { revision: expectedRevision } = await editing.flush();
      const requireCases = mustPass && (preview.data?.caseCount ?? 0) > 0;
      const body = { expectedRevision, note: note.trim() || null, migrate, requireCases };
      const published = await unwrap(client.POST('/workflows/{id}/publish', { ...path, body }));
      if (enable && !workflow.enabled)
        await unwrap(client.PATCH('/workflows/{id}', { ...path, body: { enabled: true } }));
      // A new workflow is version 1, without steps, before anyone has published it.
      return { ...published, isFirst: workflow.steps.length === 0, isEnabled: enable || workflow.enabled };
    },
    done: ({ version, movedCount, stayedCount, isFirst, isEnabled }) => {
      if (isFirst) return isEnabled ? t.canvas.firstPublished : t.canvas.firstPublishedDisabled;
      return t.canvas.published(version, movedCount, stayedCount);
    },
    changes: [key('workflow', id), key('workflows'), key('workflow-versions', id), key('workflow-stats', id)],
    quiet: true,
    onDone: () => onClose(),
  });
  const run = async () => {
    await publish.mutateAsync();
    const draft = await unwrap(client.GET('/workflows/{id}/draft', path));
    editing.load(draft);
    cache.setQueryData(key(...draftKey(id)), draft);
  };
  if (preview.error) return <Alert color="red">{messageOf(preview.error)}</Alert>;
  const { data } = preview;
  if (!data) return <Loader role="status" aria-label={t.common.loading} />;
  const { affected, faults, valid, caseCount } = data;
  return (
    <Stack>
      <Differences workflow={workflow} draft={editing.content} />
      {!valid && (
        <Alert color="red" title={t.canvas.cannotPublish}>
          <List size="sm">
            {faults.map(({ stepId, message }) => (
              <List.Item key={`${stepId}:${message}`} className="breakable">
                {message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {valid && affected.active > 0 && (
        <Radio.Group
          label={t.canvas.affected(affected.active)}
          value={migrate}
          onChange={(value) => setMigrate(value === 'NONE' ? 'NONE' : 'POSSIBLE')}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="POSSIBLE" label={t.canvas.migrate(affected.canMove)} />
            <Radio value="NONE" label={t.canvas.doNotMigrate} />
          </Stack>
        </Radio.Group>
      )}
      {valid && migrate === 'POSSIBLE' && affected.changes.length > 0 && (
        <Alert color="blue" title={t.canvas.changesForMoved}>
          <List size="sm">
            {affected.changes.map(({ stepId, count, effect }) => (
              <List.Item key={stepId} className="breakable">
                {number(count)} · {stepName(workflow, stepId)}: {effect}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {valid && affected.cannotMove.length > 0 && (
        <Alert color="yellow" title={t.canvas.cannotMove}>
          <List size="sm">
            {affected.cannotMove.map(({ stepId, count, reason }) => (
              <List.Item key={`${stepId}:${reason}`} className="breakable">
                {number(count)} · {stepName(workflow, stepId)}: {reason}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {valid && caseCount > 0 && (
        <Checkbox
          label={t.canvas.requireCases(caseCount)}
          checked={mustPass}
          onChange={(event) => setMustPass(event.currentTarget.checked)}
        />
      )}
      {valid && !workflow.enabled && (
        <Checkbox
          label={t.canvas.enableToo}
          checked={enable}
          onChange={(event) => setEnable(event.currentTarget.checked)}
        />
      )}
      {valid && (
        <Textarea
          label={t.canvas.note}
          description={t.canvas.noteHint}
          maxLength={2_000}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      )}
      {publish.error && <PublishProblem error={publish.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t.common.cancel}
        </Button>
        {valid && (
          <Button onClick={() => void run().catch(() => {})} loading={publish.isPending} data-autofocus>
            {t.canvas.publishNow}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** What the draft changes of the newest version. */
function Differences({ workflow, draft }: { workflow: WorkflowDetail; draft: DraftContent }) {
  const diff = useMemo(() => diffOf(comparedLive(workflow), { graph: draft.graph, trigger: draft }), [workflow, draft]);
  const isFirst = workflow.steps.length === 0;
  return (
    <section aria-label={t.canvas.diff.title}>
      <Title order={3} size="h5" mb={6}>
        {isFirst ? t.canvas.diff.first : t.canvas.diff.title}
      </Title>
      <Box mah={320} style={{ overflowY: 'auto' }} tabIndex={0}>
        <DiffList diff={diff} steps={[...draft.graph.steps, ...(workflow.steps as DraftStep[])]} />
      </Box>
    </section>
  );
}

const comparedLive = (workflow: WorkflowDetail): Compared => ({
  graph: { steps: workflow.steps, transitions: workflow.transitions } as Compared['graph'],
  trigger: workflow,
});

const stepName = ({ steps }: WorkflowDetail, stepId: string): string =>
  steps.find(({ id }) => id === stepId)?.name ?? stepId;

/** The cases that fail, one by one; other errors as the API says them. */
function PublishProblem({ error }: { error: Error }) {
  const violations = error instanceof ApiProblem && error.status === 422 ? error.violations : [];
  return (
    <Alert
      color="red"
      title={violations.length > 0 ? t.canvas.casesFailed(violations.length) : t.errors.title}
      role="alert"
    >
      {violations.length === 0 ? (
        <span className="breakable">{messageOf(error)}</span>
      ) : (
        <List size="sm">
          {violations.map(({ field, message }) => (
            <List.Item key={`${field}:${message}`} className="breakable">
              {message}
            </List.Item>
          ))}
        </List>
      )}
      {violations.length > 0 && (
        <Text size="sm" mt="xs">
          {t.canvas.casesFailedHint}
        </Text>
      )}
    </Alert>
  );
}
