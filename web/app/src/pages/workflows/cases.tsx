import { Alert, Badge, Box, Button, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconPlayerPlay, IconTestPipe, IconTrash, IconX } from '@tabler/icons-react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { CaseRun, WorkflowCase } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Empty, Loaded, Panel } from '../../ui/page.tsx';
import { useDraftQuery } from './canvas/use-draft.ts';
import { PlaybackLink } from './playback-link.tsx';
import { branchName } from './steps.ts';

type CaseResult = CaseRun['results'][number];

/** The cases of a workflow: saved simulations with the path that they have to take. */
export function CasesTab({ workflowId: id }: { workflowId: string }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const list = useCursorList<WorkflowCase>(key('workflow-cases', id), (cursor) =>
    unwrap(client.GET('/workflows/{id}/cases', { params: { path: { id }, query: { limit: 50, cursor } } })),
  );
  const draft = useDraftQuery(id);
  const run = useAction({
    run: () => unwrap(client.POST('/workflows/{id}/cases/run', { params: { path: { id } }, body: {} })),
    done: ({ passed, failed }) => t.canvas.casesRun(passed, failed),
    quiet: true,
  });
  const cases = list.data?.pages.flatMap(({ data }) => data);
  const nameOf = (stepId: string): string => draft.data?.graph.steps.find((step) => step.id === stepId)?.name ?? stepId;
  return (
    <Panel
      title={t.canvas.casesTitle}
      description={t.canvas.casesText}
      actions={
        <>
          <PlaybackLink workflowId={id} />
          <Button
            leftSection={<IconPlayerPlay size={16} />}
            onClick={() => run.mutate()}
            loading={run.isPending}
            disabled={!cases || cases.length === 0}
          >
            {t.canvas.runCases}
          </Button>
        </>
      }
    >
      {run.error && (
        <Alert color="red" mb="md" title={t.canvas.casesNotRun}>
          <span className="breakable">{messageOf(run.error)}</span>
        </Alert>
      )}
      <Loaded query={{ data: cases, error: list.error, refetch: list.refetch }}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={<IconTestPipe size={30} />} title={t.canvas.noCases} text={t.canvas.noCasesText} />
          ) : (
            <Stack component="ul" gap="sm" m={0} p={0} className="plain-list">
              {all.map((one) => (
                <Box component="li" key={one.id} className="record">
                  <CaseItem
                    one={one}
                    result={run.data?.results.find(({ caseId }) => caseId === one.id)}
                    nameOf={nameOf}
                    mayDelete={write}
                  />
                </Box>
              ))}
              {list.hasNextPage && (
                <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
                  {t.common.loadMore}
                </Button>
              )}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}

interface CaseItemProps {
  one: WorkflowCase;
  result: CaseResult | undefined;
  nameOf(stepId: string): string;
  mayDelete: boolean;
}

function CaseItem({ one, result, nameOf, mayDelete }: CaseItemProps) {
  const { client, key } = useApi();
  const { id: caseId, workflowId: id, name } = one;
  const remove = useAction({
    run: () => unwrap(client.DELETE('/workflows/{id}/cases/{caseId}', { params: { path: { id, caseId } } })),
    done: () => t.canvas.caseDeleted(name),
    changes: [key('workflow-cases', id)],
    quiet: true,
  });
  const expected = one.expect.map(({ stepId, branch }) =>
    branch ? `${nameOf(stepId)} (${branchName(branch)})` : nameOf(stepId),
  );
  return (
    <Group justify="space-between" align="flex-start" gap="sm">
      <Box flex="1 1 16rem" miw={0}>
        <Group gap="sm">
          <Text fw={600} className="breakable">
            {name}
          </Text>
          {result && (
            <Badge
              color={result.passed ? 'teal' : 'red'}
              leftSection={result.passed ? <IconCheck size={12} aria-hidden /> : <IconX size={12} aria-hidden />}
            >
              {result.passed ? t.canvas.passed : t.canvas.failed}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" className="breakable">
          {t.canvas.caseOf(personOf(one), one.events.map((event) => event.name).join(', '))}
        </Text>
        <Text size="sm" className="breakable">
          {t.canvas.expectedPath}: {expected.join(' → ') || '—'}
        </Text>
        {result && !result.passed && <Difference result={result} nameOf={nameOf} />}
      </Box>
      {mayDelete && (
        <ConfirmButton
          danger
          size="xs"
          variant="light"
          label={t.common.delete}
          ariaLabel={t.canvas.deleteCase(name)}
          icon={<IconTrash size={14} />}
          title={t.canvas.deleteCase(name)}
          confirm={t.common.delete}
          onConfirm={() => remove.mutateAsync()}
        >
          {t.canvas.deleteCaseText(name)}
        </ConfirmButton>
      )}
    </Group>
  );
}

const personOf = ({ contact }: WorkflowCase): string =>
  typeof contact.email === 'string' ? contact.email : t.canvas.storedContact;

function Difference({ result, nameOf }: { result: CaseResult; nameOf(stepId: string): string }) {
  const { difference, path } = result;
  const taken = path.map(({ stepId, branch }) =>
    branch ? `${nameOf(stepId)} (${branchName(branch)})` : nameOf(stepId),
  );
  return (
    <Alert color="red" mt="xs">
      <Text size="sm" className="breakable">
        {difference?.message}
      </Text>
      <Text size="sm" className="breakable">
        {t.canvas.takenPath}: {taken.join(' → ') || '—'}
      </Text>
    </Alert>
  );
}
