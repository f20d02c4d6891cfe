import { Alert, Box, List, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { QueuedJob } from '../../api/api-types.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { isOpen, useJob } from '../../api/job.ts';
import type { Job } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Panel } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';

interface ApplyPanelProps {
  title: string;
  /** What is applied, and what stays as it is. */
  text: string;
  disabled?: boolean;
  start(): Promise<QueuedJob>;
}

/** Renders existing emails again, and follows the job. */
export function ApplyPanel({ title, text, disabled = false, start }: ApplyPanelProps) {
  const { key } = useApi();
  const cache = useQueryClient();
  const [jobId, setJobId] = useState<string>();
  const { data: job } = useJob(jobId, 'any');
  const apply = useAction({
    run: start,
    changes: [key('jobs')],
    quiet: true,
    onDone: (queued: QueuedJob) => setJobId(queued.jobId),
  });
  const ended = job !== undefined && !isOpen(job);
  useEffect(() => {
    if (!ended) return;
    for (const name of ['template', 'templates', 'template-versions', 'campaign', 'campaigns'])
      void cache.invalidateQueries({ queryKey: key(name) });
  }, [ended, jobId]);
  return (
    <Panel
      title={title}
      description={text}
      actions={
        <ConfirmButton
          label={t.brand.updateEmails}
          icon={<IconRefresh size={16} />}
          disabled={disabled || (job !== undefined && isOpen(job))}
          title={t.brand.applyTitle}
          confirm={t.brand.updateEmails}
          onConfirm={() => apply.mutateAsync()}
        >
          {t.brand.applyConfirm}
        </ConfirmButton>
      }
    >
      {job && <RenderProgress job={job} />}
    </Panel>
  );
}

interface RenderError {
  type: 'TEMPLATE' | 'CAMPAIGN';
  id: string;
  name: string;
  error: string;
}

const MOST_SHOWN = 50;

/** How far a job that renders emails is, and what it could not render. */
function RenderProgress({ job }: { job: Job }) {
  const { projectId } = useApi();
  const { rendered = 0, unchanged = 0, failed = 0, errors = [] } = job.result as Record<string, unknown>;
  const failures = (errors as RenderError[]).slice(0, MOST_SHOWN);
  const sentence = t.brand.renderResult(Number(rendered), Number(unchanged));
  return (
    <Stack gap="sm">
      <Progress value={job.progress} animated={isOpen(job)} aria-label={t.jobs.progressOf(t.jobs.types[job.type])} />
      <Text size="sm" aria-live="polite">
        {isOpen(job) ? t.jobs.rows(job.processed, job.total) : sentence}{' '}
        <TextLink to="/p/$projectId/jobs/$id" params={{ projectId, id: job.id }} inherit>
          {t.brand.details}
        </TextLink>
      </Text>
      {job.failedReason && <Alert color="red">{job.failedReason}</Alert>}
      {failures.length > 0 && (
        <Alert color="yellow" title={t.brand.renderFailed(Number(failed))}>
          <List spacing={4}>
            {failures.map((failure) => (
              <List.Item key={failure.id}>
                <DocumentLink {...failure} />: {failure.error}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}

/** Leads to an email that could not be rendered. */
export function DocumentLink({ type, id, name }: Pick<RenderError, 'type' | 'id' | 'name'>) {
  const { projectId } = useApi();
  return (
    <Box component="span" className="breakable">
      {type === 'TEMPLATE' ? (
        <TextLink to="/p/$projectId/templates/$id" params={{ projectId, id }} inherit>
          {name}
        </TextLink>
      ) : (
        <TextLink to="/p/$projectId/campaigns/$id/edit" params={{ projectId, id }} inherit>
          {name}
        </TextLink>
      )}
    </Box>
  );
}
