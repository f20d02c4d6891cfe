import { Anchor, Box, List, Stack, Text, Title } from '@mantine/core';
import type { WorkflowDraft } from '../../../api/types.ts';
import { number } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import type { DraftGraph } from './model.ts';
import type { WorkflowStats } from './numbers.tsx';

interface OverviewPanelProps {
  graph: DraftGraph;
  faults: WorkflowDraft['faults'];
  stats: WorkflowStats | undefined;
  /** Null for what concerns the whole workflow. */
  onSelect(stepId: string | null): void;
}

/** From those who came to those who left. */
const shown: (keyof WorkflowStats['executions'])[] = [
  'started',
  'active',
  'completed',
  'exited',
  'failed',
  'cancelled',
];

/** Shown while no step is selected: what is missing, and the numbers of the whole workflow. */
export function OverviewPanel({ graph, faults, stats, onSelect }: OverviewPanelProps) {
  return (
    <Stack gap="md">
      <Title order={2} size="h4">
        {t.canvas.overview}
      </Title>
      <Text size="sm" c="dimmed">
        {graph.steps.length === 0 ? t.canvas.emptyHint : t.canvas.selectHint}
      </Text>
      {faults.length > 0 && (
        <Box>
          <Text fw={600} size="sm" mb={4}>
            {t.canvas.faultsTitle(faults.length)}
          </Text>
          <List size="sm" spacing={4}>
            {faults.map(({ stepId, message }) => (
              <List.Item key={`${stepId}:${message}`} className="breakable">
                <Anchor component="button" type="button" ta="left" inherit onClick={() => onSelect(stepId)}>
                  {message}
                </Anchor>
              </List.Item>
            ))}
          </List>
        </Box>
      )}
      {stats && (
        <Box>
          <Text fw={600} size="sm" mb={4}>
            {t.canvas.numbersTitle}
          </Text>
          <dl className="facts">
            {shown.map((name) => (
              <Box key={name} display="contents">
                <dt>{t.canvas.executionNumbers[name]}</dt>
                <dd className="number">{number(stats.executions[name])}</dd>
              </Box>
            ))}
          </dl>
        </Box>
      )}
    </Stack>
  );
}
