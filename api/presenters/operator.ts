import joi from 'joi';
import type { PartStatus } from '../../platform/probes.ts';
import type { TemporalSettings } from '../../platform/settings.ts';
import { processTimings } from '../../platform/timings.ts';
import type { Overview } from '../../services/operators/overview.ts';
import type { OperatorProject } from '../../services/operators/projects.ts';
import { dateTime, flag, list, namedType, nullable, object, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { ratesSchema } from './security.ts';

const seconds = (): Typed<number> => joi.number().min(0).required();

const queue = namedType('QueueState', 'A queue in the database.', {
  name: text().description('Queue name.').example('mail'),
  depth: wholeNumber({ min: 0 }).description('Number of waiting entries.'),
  oldestSeconds: seconds().description('Age of the oldest waiting entry in seconds; 0 if the queue is empty.'),
});

const parkedMessage = namedType('ParkedMessage', 'A message to Temporal that failed too often and is not retried.', {
  id: text().description('Message ID.').example('4711'),
  queue: text().description('Outbox queue.'),
  projectId: uuid().description('Project ID.'),
  workflowId: text().description('ID of the Temporal workflow that the message is for.'),
  action: text().description('What the message does: start, signal, cancel, schedule or unschedule.').example('start'),
  attempts: wholeNumber().description('Number of attempts.'),
  lastError: nullable(text()).description('Error of the last attempt; null if unknown.'),
  parkedAt: dateTime().description('When the message was parked.'),
});

const stuckWorkflow = namedType('StuckWorkflow', 'A Temporal workflow whose task fails repeatedly.', {
  runId: text().description('Run ID, as in the Temporal Web UI.'),
  workflowId: text().description('ID of the Temporal workflow.'),
  workflowType: text().description('Type of the Temporal workflow.'),
  failure: text().description('Last failure, at most 1,000 characters.'),
  attempts: wholeNumber().description('Number of attempts of the task.'),
  since: dateTime().description('When the task first failed.'),
});

const failingEndpoint = namedType('FailingEndpoint', 'A webhook endpoint whose deliveries fail.', {
  id: uuid().description('Webhook endpoint ID.'),
  projectId: uuid().description('Project ID.'),
  url: text().description('URL of the endpoint.'),
  failingSince: dateTime().description('Since when deliveries have failed.'),
  enabled: flag().description('Whether the endpoint is enabled.'),
});

const processKind = () => oneOf('api', 'worker').description('Kind of process.');

const seenProcess = namedType('SeenProcess', 'An API or worker process.', {
  kind: processKind(),
  version: text().description('Everpost version.').example('1.0.0'),
  build: nullable(text()).description('Build of the workflow code; null for the API and for unversioned workers.'),
  host: text().description('Host name of the machine.'),
  pid: wholeNumber().description('Process ID.'),
  startedAt: dateTime().description('When the process started.'),
  lastSeenAt: dateTime().description('Time of the last heartbeat.'),
});

const versionCount = namedType('VersionCount', 'Number of running processes of one kind and version.', {
  kind: processKind(),
  version: text().description('Everpost version.').example('1.0.0'),
  processes: wholeNumber({ min: 1 }).description('Number of running processes.'),
});

export const overviewSchema = namedType('OperatorOverview', 'State of the installation.', {
  queues: list(queue).description('Queues in the database.'),
  oldestDueMail: nullable(
    object({
      dueAt: dateTime().description('When the email was due.'),
      ageSeconds: seconds().description('How long the email has been due, in seconds.'),
    }),
  ).description('Email that has been due longest, except campaign emails; null if none is due.'),
  unknownOutcomes: wholeNumber({ min: 0 }).description('Number of emails with status UNKNOWN.'),
  parkedOutbox: object({
    count: wholeNumber({ min: 0 }).description('Number of parked messages.'),
    messages: list(parkedMessage).description('Parked messages, oldest first, at most 100.'),
  }).description('Messages to Temporal that failed too often.'),
  stuckWorkflows: object({
    count: wholeNumber({ min: 0 }).description('Number of stuck workflows.'),
    workflows: list(stuckWorkflow).description('Stuck workflows, oldest first, at most 100.'),
  }).description('Temporal workflows whose task fails repeatedly.'),
  failingEndpoints: list(failingEndpoint).description('Failing webhook endpoints, oldest failure first, at most 100.'),
  processes: list(seenProcess).description('Processes seen in the last day, except those that were shut down.'),
  versions: list(versionCount).description('Number of running processes by kind and version.'),
  temporal: object({
    status: oneOf('ok', 'degraded', 'down').description('Connection to Temporal.'),
    uiUrl: nullable(text())
      .description(
        'URL of the namespace in the Temporal Web UI; a workflow is at `<uiUrl>/workflows/<id>`. Null if not configured.',
      )
      .example('https://temporal.example.com/namespaces/default'),
  }).description('State of Temporal.'),
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

export const operatorProjectSchema = namedType('OperatorProject', 'A project, as operators see it.', {
  id: uuid().description('Project ID.'),
  name: text().description('Project name.').example('Acme'),
  createdAt: dateTime().description('When the project was created.'),
  disabled: flag().description('Whether the project is disabled.'),
  disabledReason: nullable(text()).description('Why the project is disabled; null if it is not.'),
  members: wholeNumber({ min: 0 }).description('Number of active members.'),
  volume: object({
    last24h: wholeNumber().description('Emails sent in the last 24 hours.'),
    last7d: wholeNumber().description('Emails sent in the last 7 days.'),
    last30d: wholeNumber().description('Emails sent in the last 30 days.'),
  }).description('Number of sent emails.'),
  rates: object({
    last24h: ratesSchema.description('Rates of the last 24 hours.'),
    last7d: ratesSchema.description('Rates of the last 7 days.'),
  }).description('Bounce and complaint rates.'),
});

export const presentOperatorProject = (project: OperatorProject) => ({
  ...project,
  createdAt: project.createdAt.toISOString(),
});
