import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { unwrap } from '../../../api/client.ts';
import { type ProjectApi, useApi } from '../../../api/hooks.ts';
import { type DescribedStep, type StepNames, type StepSummary, summaryOf } from './summary.ts';

export interface Named {
  id: string;
  name: string;
  /** Of a template. */
  subject?: string;
  /** Of a segment. */
  type?: string;
}

const MOST = 100;

/** What an id of a config refers to, by the name of the property. */
export const referenceLoaders: Record<
  'templateId' | 'segmentId' | 'topicId' | 'workflowId',
  (api: ProjectApi) => Promise<Named[]>
> = {
  templateId: async ({ client }) =>
    (await unwrap(client.GET('/templates', { params: { query: { pageSize: MOST, sort: 'updatedAt' } } }))).data,
  segmentId: async ({ client }) => unwrap(client.GET('/segments')),
  topicId: async ({ client }) => unwrap(client.GET('/topics')),
  workflowId: async ({ client }) =>
    (await unwrap(client.GET('/workflows', { params: { query: { pageSize: MOST } } }))).data,
};

export function useReferences(name: keyof typeof referenceLoaders, enabled = true): Named[] | undefined {
  const api = useApi();
  const { data } = useQuery({
    queryKey: api.key('references', name),
    queryFn: () => referenceLoaders[name](api),
    staleTime: 15_000,
    enabled,
  });
  return data;
}

/** The names of what the steps refer to. Templates outside the list are read one by one. */
export function useStepNames(steps: readonly DescribedStep[]): StepNames {
  const { client, key } = useApi();
  const isUsed = (...types: string[]) => steps.some(({ type }) => types.includes(type));
  const templates = useReferences('templateId', isUsed('SEND_EMAIL'));
  const segments = useReferences('segmentId', isUsed('ADD_TO_SEGMENT', 'REMOVE_FROM_SEGMENT', 'CONDITION'));
  const workflows = useReferences('workflowId', isUsed('START_WORKFLOW'));
  const used = new Set(steps.flatMap(({ config, templateId }) => [config?.templateId, templateId]));
  const listed = new Set(templates?.map(({ id }) => id));
  const missing = templates ? [...used].filter((id): id is string => typeof id === 'string' && !listed.has(id)) : [];
  const others = useQueries({
    queries: missing.map((id) => ({
      queryKey: key('references', 'template', id),
      queryFn: () => unwrap(client.GET('/templates/{id}', { params: { path: { id } } })),
      staleTime: 60_000,
      retry: false,
    })),
    combine: (results) => results.flatMap(({ data }) => (data ? [data] : [])),
  });
  return useMemo(
    () => ({
      templates: new Map(
        [...(templates ?? []), ...others].map(({ id, name, subject = '' }) => [id, { name, subject }]),
      ),
      segments: namesOf(segments),
      workflows: namesOf(workflows),
    }),
    [templates, segments, workflows, others],
  );
}

const namesOf = (all: Named[] = []): ReadonlyMap<string, string> => new Map(all.map(({ id, name }) => [id, name]));

/** Says what each step does. Summaries that stay the same stay the same objects, which are not drawn anew. */
export function useSummaries(steps: readonly DescribedStep[]): ReadonlyMap<string, StepSummary> {
  const names = useStepNames(steps);
  const known = useRef(new Map<string, StepSummary>());
  return useMemo(() => {
    const summaries = new Map<string, StepSummary>();
    for (const step of steps) {
      const summary = summaryOf(step, names);
      const before = known.current.get(step.id);
      summaries.set(step.id, before?.lines.join('\n') === summary.lines.join('\n') ? before : summary);
    }
    known.current = summaries;
    return summaries;
  }, [steps, names]);
}
