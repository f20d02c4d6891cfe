import joi from 'joi';
import type { PartStatus } from '../../platform/probes.ts';
import type { TemporalSettings } from '../../platform/settings.ts';
import { processTimings } from '../../platform/timings.ts';
import type { Overview } from '../../services/operators/overview.ts';
import type { OperatorProject } from '../../services/operators/projects.ts';
import { dateTime, flag, list, nullable, object, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { ratesSchema } from './security.ts';

const seconds = (): Typed<number> => joi.number().min(0).required();

const queue = object({ name: text(), depth: wholeNumber({ min: 0 }), oldestSeconds: seconds() });
const parkedMessage = object({
  id: text(),
  queue: text(),
  projectId: uuid(),
  workflowId: text(),
  action: text(),
  attempts: wholeNumber(),
  lastError: nullable(text()),
  parkedAt: dateTime(),
});
const stuckWorkflow = object({
  runId: text(),
  workflowId: text(),
  workflowType: text(),
  failure: text(),
  attempts: wholeNumber(),
  since: dateTime(),
});
const seenProcess = object({
  kind: oneOf('api', 'worker'),
  version: text(),
  build: nullable(text()),
  host: text(),
  pid: wholeNumber(),
  startedAt: dateTime(),
  lastSeenAt: dateTime(),
});

export const overviewSchema = object({
  queues: list(queue),
  oldestDueMail: nullable(object({ dueAt: dateTime(), ageSeconds: seconds() })),
  unknownOutcomes: wholeNumber({ min: 0 }),
  parkedOutbox: object({ count: wholeNumber({ min: 0 }), messages: list(parkedMessage) }),
  stuckWorkflows: object({ count: wholeNumber({ min: 0 }), workflows: list(stuckWorkflow) }),
  failingEndpoints: list(
    object({ id: uuid(), projectId: uuid(), url: text(), failingSince: dateTime(), enabled: flag() }),
  ),
  processes: list(seenProcess),
  versions: list(object({ kind: oneOf('api', 'worker'), version: text(), processes: wholeNumber({ min: 1 }) })),
  /** `uiUrl` is the namespace in Temporal's Web UI; a workflow is at `<uiUrl>/workflows/<id>`. Null when it is not known. */
  temporal: object({ status: oneOf('ok', 'degraded', 'down'), uiUrl: nullable(text()) }),
});

export const presentOverview = (overview: Overview, status: PartStatus, temporal: TemporalSettings) => ({
  ...overview,
  versions: versionsOf(overview.processes),
  temporal: { status, uiUrl: temporalUiUrl(temporal) },
});

const temporalUiUrl = ({ uiUrl, namespace }: TemporalSettings): string | null =>
  uiUrl ? `${uiUrl}/namespaces/${encodeURIComponent(namespace)}` : null;

/** Counts the living processes of each kind and version. */
function versionsOf(processes: Overview['processes']) {
  const counts = new Map<string, { kind: string; version: string; processes: number }>();
  for (const { kind, version, lastSeenAt } of processes) {
    if (Date.now() - lastSeenAt.getTime() > processTimings.processes.shownAlive) continue;
    const key = `${kind} ${version}`;
    counts.set(key, { kind, version, processes: (counts.get(key)?.processes ?? 0) + 1 });
  }
  return [...counts.values()];
}

export const operatorProjectSchema = object({
  id: uuid(),
  name: text(),
  createdAt: dateTime(),
  disabled: flag(),
  disabledReason: nullable(text()),
  members: wholeNumber({ min: 0 }),
  volume: object({ last24h: wholeNumber(), last7d: wholeNumber(), last30d: wholeNumber() }),
  rates: object({ last24h: ratesSchema(), last7d: ratesSchema() }),
});

export const presentOperatorProject = (project: OperatorProject) => ({
  ...project,
  createdAt: project.createdAt.toISOString(),
});
