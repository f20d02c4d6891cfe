import { presentedDraft, type WorkflowDraft } from '../../services/workflows/drafts/draft.ts';
import type { Published, PublishPreview } from '../../services/workflows/drafts/publish.ts';
import type { ListedVersion, VersionDetails } from '../../services/workflows/drafts/versions.ts';
import type { DraftGraph } from '../../services/workflows/graph.ts';
import { hideStep } from '../../services/workflows/sealed-headers.ts';
import { dateTime, flag, list, namedType, nullable, object, text, uuid, wholeNumber } from '../http/schemas.ts';
import { faultsShape, presentWorkflow, stepShape, transitionShape, triggerShape, workflowSchema } from './workflow.ts';

const graphSchema = namedType('WorkflowGraph', 'Steps and transitions of a draft or a version.', {
  steps: list(
    namedType('WorkflowGraphStep', 'A step of a graph.', {
      ...stepShape,
      templateId: nullable(uuid()).description(
        'ID of the template that a SEND_EMAIL step sends if its config names none; null if not set.',
      ),
    }),
  ).description('Steps.'),
  transitions: list(
    namedType('WorkflowGraphTransition', 'A connection of two steps of a graph.', transitionShape),
  ).description('Transitions between the steps.'),
});

const count = () => wholeNumber({ min: 0 });

export const draftSchema = namedType('WorkflowDraft', 'Changes to a workflow that are not published yet.', {
  workflowId: uuid().description('Workflow ID.'),
  baseVersion: wholeNumber({ min: 1 }).description('Version that the draft is based on.'),
  revision: count().description(
    'Rises with every change to the draft, the live graph or the trigger. Send it as `expectedRevision`.',
  ),
  ...triggerShape,
  graph: graphSchema.description('Steps and transitions; may be incomplete.'),
  ...faultsShape,
  changed: flag().description('Whether the draft differs from the newest version.'),
  updatedAt: dateTime().description('When the draft was last saved; without a draft, when the workflow last changed.'),
  updatedBy: nullable(text()).description(
    'Email address of the user who last saved the draft; null if an API key did, the user was deleted, or there is no draft.',
  ),
});

/** Without `showsHeaders` the values of the headers of webhooks are hidden. */
export const presentDraft = (draft: WorkflowDraft, showsHeaders = true) =>
  presentedDraft({ ...draft, graph: showsHeaders ? draft.graph : hidden(draft.graph) });

const hidden = ({ steps, transitions }: DraftGraph): DraftGraph => ({ steps: steps.map(hideStep), transitions });

export const publishedSchema = namedType('PublishedWorkflow', 'The result of publishing a draft.', {
  workflow: workflowSchema.description('The workflow with its new version.'),
  version: wholeNumber({ min: 1 }).description('Number of the new version.'),
  movedCount: count().description('Number of active executions that moved to the new version.'),
  stayedCount: count().description('Number of active executions that remain on older versions.'),
});

export const presentPublished = ({ workflow, ...counts }: Published) => ({
  workflow: presentWorkflow(workflow),
  ...counts,
});

export const publishPreviewSchema = namedType('PublishPreview', 'What publishing the draft would do.', {
  ...faultsShape,
  affected: object({
    active: count().description('Number of active executions.'),
    canMove: count().description('Number of active executions that can move to the new version.'),
    cannotMove: list(
      object({
        stepId: uuid().description('ID of the step that the executions are at.'),
        count: count().description('Number of executions.'),
        reason: text().description('Why they cannot move.'),
      }),
    ).description('Active executions that would remain on their version, by step and reason.'),
    changes: list(
      object({
        stepId: uuid().description('ID of the step.'),
        count: count().description('Number of executions that are at the step and can move.'),
        keys: list(text()).description('Fields of the config that change.').example(['amount']),
        effect: text().description('What the change means for these executions.'),
      }),
    ).description('Steps whose config changes for executions that are at them.'),
  }).description('Effect on active executions.'),
});

export const presentPublishPreview = ({ faults: found, ...affected }: PublishPreview) => ({
  valid: found.length === 0,
  faults: found,
  affected,
});

const versionShape = {
  version: wholeNumber({ min: 1 }).description('Version number.'),
  note: nullable(text({ min: 0 })).description('Note given when the version was published; null if there is none.'),
  publishedAt: dateTime().description(
    'When the version was published; when it was created, if single-step edits created it.',
  ),
  publishedBy: nullable(text()).description(
    'Email address of the user who published the version; null if an API key did, the user was deleted, or single-step edits created it.',
  ),
  activeExecutions: count().description('Number of active executions on this version.'),
};

export const workflowVersionSchema = namedType('WorkflowVersion', 'A version of a workflow.', versionShape);

export const presentWorkflowVersion = ({
  version,
  note,
  publishedAt,
  publishedBy,
  activeExecutions,
}: ListedVersion) => ({
  version,
  note,
  publishedAt: publishedAt.toISOString(),
  publishedBy,
  activeExecutions,
});

export const wholeWorkflowVersionSchema = namedType(
  'WorkflowVersionDetails',
  'A version of a workflow with its graph.',
  { ...versionShape, graph: graphSchema.description('Steps and transitions.') },
);

export const presentWholeWorkflowVersion = (
  { graph, ...version }: VersionDetails,
  showsHeaders: boolean,
): object & { graph: DraftGraph } => ({
  ...presentWorkflowVersion(version),
  graph: showsHeaders ? graph : hidden(graph),
});
