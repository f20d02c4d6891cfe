import { Alert, Button, List, Stack } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { unwrap } from '../../../api/client.ts';
import { useApi } from '../../../api/hooks.ts';
import { number } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import type { GraphStep } from './graph.ts';
import { PeopleLink, type WorkflowStats } from './numbers.tsx';

interface ElsewhereProps {
  workflowId: string;
  stats: WorkflowStats | undefined;
  /** What the canvas shows. */
  shown: readonly GraphStep[];
  /** Of the newest version. */
  live: readonly GraphStep[];
  /** Missing where the newest version is shown. */
  onShowLive?: (() => void) | undefined;
}

/** People at steps that the canvas does not show: they finish on the version where they are. */
export function Elsewhere({ workflowId, stats, shown, live, onShowLive }: ElsewhereProps) {
  const { client, key, projectId } = useApi();
  const known = new Set(shown.map(({ id }) => id));
  const hidden = Object.entries(stats?.steps ?? {}).filter(([id, { waiting }]) => waiting > 0 && !known.has(id));
  const nameOfLive = (stepId: string) => live.find(({ id }) => id === stepId)?.name;
  // Steps of older versions have their names where people are.
  const older = hidden.map(([id]) => id).filter((id) => nameOfLive(id) === undefined);
  const names = useQueries({
    queries: older.map((stepId) => ({
      queryKey: key('step-name', workflowId, stepId),
      queryFn: () => unwrap(client.GET('/executions', { params: { query: { workflowId, stepId, limit: 1 } } })),
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (results) => new Map(results.map(({ data }, n) => [older[n], data?.data[0]?.currentStepName])),
  });
  if (hidden.length === 0) return null;
  const total = hidden.reduce((sum, [, { waiting }]) => sum + waiting, 0);
  return (
    <Alert color="yellow" title={t.canvas.elsewhereTitle(total)} data-elsewhere={total}>
      <Stack gap="xs" align="flex-start">
        <List size="sm">
          {hidden.map(([stepId, { waiting }]) => (
            <List.Item key={stepId} className="breakable">
              <PeopleLink search={{ workflowId, stepId }} projectId={projectId} number="elsewhere">
                {nameOfLive(stepId) ?? names.get(stepId) ?? t.canvas.otherStep}: {number(waiting)}
              </PeopleLink>
            </List.Item>
          ))}
        </List>
        {onShowLive && (
          <Button size="xs" variant="default" onClick={onShowLive}>
            {t.canvas.showLive}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
