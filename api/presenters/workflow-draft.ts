import { presentedDraft, type WorkflowDraft } from '../../services/workflows/drafts/draft.ts';
import type { DraftGraph } from '../../services/workflows/drafts/graph.ts';
import type { Published, PublishPreview } from '../../services/workflows/drafts/publish.ts';
import type { ListedVersion, VersionDetails } from '../../services/workflows/drafts/versions.ts';
import { MAX_BRANCH_LENGTH, stepTypeNames } from '../../services/workflows/graph.ts';
import { hideStep } from '../../services/workflows/sealed-headers.ts';
import { triggerTypes } from '../../services/workflows/trigger.ts';
import { dateTime, flag, list, nullable, object, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';
import { position, presentWorkflow, workflowSchema } from './workflow.ts';

const graphSchema = object({
  steps: list(
    object({
      id: uuid(),
      type: oneOf(...stepTypeNames),
      name: text(),
      position: position(),
      config: record(),
      templateId: nullable(uuid()),
    }),
  ),
  transitions: list(
    object({ fromStepId: uuid(), toStepId: uuid(), branch: nullable(text({ max: MAX_BRANCH_LENGTH })) }),
  ),
});

const faults = () => list(object({ stepId: nullable(uuid()), message: text() }));
const count = () => wholeNumber({ min: 0 });

export const draftSchema = object({
  workflowId: uuid(),
  baseVersion: wholeNumber({ min: 1 }),
  revision: count(),
  triggerType: oneOf(...triggerTypes),
  triggerConfig: record(),
  allowReentry: flag(),
  graph: graphSchema,
  valid: flag(),
  faults: faults(),
  changed: flag(),
  updatedAt: dateTime(),
  updatedBy: nullable(text()),
});

/** Without `showsHeaders` the values of the headers of webhooks are hidden. */
export const presentDraft = (draft: WorkflowDraft, showsHeaders = true) =>
  presentedDraft({ ...draft, graph: showsHeaders ? draft.graph : hidden(draft.graph) });

const hidden = ({ steps, transitions }: DraftGraph): DraftGraph => ({ steps: steps.map(hideStep), transitions });

export const publishedSchema = object({
  workflow: workflowSchema,
  version: wholeNumber({ min: 1 }),
  movedCount: count(),
  stayedCount: count(),
});

export const presentPublished = ({ workflow, ...counts }: Published) => ({
  workflow: presentWorkflow(workflow),
  ...counts,
});

export const publishPreviewSchema = object({
  valid: flag(),
  faults: faults(),
  affected: object({
    active: count(),
    canMove: count(),
    cannotMove: list(object({ stepId: uuid(), count: count(), reason: text() })),
    changes: list(object({ stepId: uuid(), count: count(), keys: list(text()), effect: text() })),
  }),
});

export const presentPublishPreview = ({ faults: found, ...affected }: PublishPreview) => ({
  valid: found.length === 0,
  faults: found,
  affected,
});

const versionShape = {
  version: wholeNumber({ min: 1 }),
  note: nullable(text({ min: 0 })),
  publishedAt: dateTime(),
  publishedBy: nullable(text()),
  activeExecutions: count(),
};

export const workflowVersionSchema = object(versionShape);

export const presentWorkflowVersion = ({
  version,
  note,
  publishedAt,
  publishedBy,
  activeExecutions,
}: ListedVersion) => ({
  ...{ version, note, publishedAt: publishedAt.toISOString(), publishedBy, activeExecutions },
});

export const wholeWorkflowVersionSchema = object({ ...versionShape, graph: graphSchema });

export const presentWholeWorkflowVersion = (
  { graph, ...version }: VersionDetails,
  showsHeaders: boolean,
): object & { graph: DraftGraph } => ({
  ...presentWorkflowVersion(version),
  graph: showsHeaders ? graph : hidden(graph),
});
