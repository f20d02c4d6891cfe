import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { Project } from '../../db/models/project.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { Renderer } from '../../platform/templates/index.ts';
import { NO_EMAIL_COUNTS } from '../conditions/email-facts.ts';
import { explain } from '../conditions/explain.ts';
import { explainForContact } from '../conditions/facts.ts';
import { resolveCondition, timeZoneFor } from '../conditions/resolve.ts';
import { NO_TOPICS } from '../conditions/topics.ts';
import { type Data, readData } from '../contacts/data.ts';
import { dataKeysViolation, newFieldsViolation, roomFor } from '../contacts/limits.ts';
import type { MailLinks } from '../emails/links.ts';
import { changeMember } from '../segments/change-member.ts';
import { variablesOf } from '../templates/variables.ts';
import { findChosenTopics } from '../topics/find.ts';
import type { ExecutionState } from './execution-state.ts';
import { startByStep } from './executions/start-by-step.ts';
import { type Effects, StaleExecution } from './records.ts';
import { mailRowOf, planStepEmail } from './send-step-email.ts';
import type { StepEnvironment } from './steps/step-type.ts';

export interface RunDeps {
  renderer: Pick<Renderer, 'render'>;
  /** Links to the contact's own pages; without it their variables are empty. */
  links?: Pick<MailLinks, 'contactLinks'>;
  now: () => Date;
  limits?: Limits;
  /** Open and seal webhook headers. */
  keys: SigningKeys;
}

const NO_LINKS = { unsubscribeUrl: '', subscribeUrl: '', manageUrl: '' };

/** Facts for conditions that read only the contact and the context. */
const NO_FACTS = {
  events: [],
  staticSegments: new Set<string>(),
  segments: new Map(),
  topics: NO_TOPICS,
  emails: NO_EMAIL_COUNTS,
};

/** Collects what a step does into `effects`, which the statement that records the step writes. */
export function executionEnvironment(
  db: Db,
  { renderer, links, now, limits = UNLIMITED }: RunDeps,
  execution: ExecutionState,
  contact: ContactRecord,
  /** Why an earlier attempt could not update the contact. */
  updateRefusal: string | undefined,
): { env: StepEnvironment; effects: Effects } {
  const { id, projectId, contactId, workflowId, workflowName, context, rowVersions } = execution;
  const moment = now();
  const effects: Effects = {};
  // Without locks the statement that moves the execution checks the limit. If it moves nothing, the step runs again.
  const fieldsRefusal = async (patch: Data) =>
    rowVersions !== null || (await roomFor(db, projectId, patch, limits)) ? undefined : newFieldsViolation(limits);
  const env: StepEnvironment = {
    now: moment,
    contact,
    context,
    workflow: { id: workflowId, name: workflowName },
    execution: { id },
    sendEmail: async (mail) => {
      const plan = await planStepEmail(db, execution, mail);
      if (!('template' in plan)) return plan;
      effects.mail = mailRowOf(plan, mail, execution, contact);
      return { emailId: effects.mail.id };
    },
    updateContact: async ({ data, subscribed = null, topics }) => {
      if (updateRefusal !== undefined) return { refused: updateRefusal };
      const { patch, deletes } = readData(data);
      const violation = dataKeysViolation(data, limits) ?? (await fieldsRefusal(patch));
      if (violation) return { refused: violation.message };
      const chosen = topics && (await findChosenTopics(db, projectId, topics));
      const [fault] = chosen?.faults ?? [];
      if (fault !== undefined) return { refused: `cannot change ${fault}` };
      effects.change = { subscribed, patch, deletes, eventId: newId(), ...(chosen && { topics: chosen.states }) };
      if (rowVersions !== null) effects.maxFields = limits.customFields;
      return {};
    },
    decide: async (parsed) => {
      const { condition, uses } = parsed;
      const { events, segments, topics, emailSources } = uses;
      if ([events, segments, topics, emailSources].every(({ size }) => size === 0))
        return explain(condition, {
          ...NO_FACTS,
          contact,
          context,
          now: moment,
          timeZone: await timeZoneFor(db, projectId, uses),
        });
      // Reading events, choices and emails consistently needs the contact's lock, under which they are written.
      if (rowVersions !== null) throw new StaleExecution();
      const resolved = await resolveCondition(db, projectId, parsed);
      return explainForContact(db, resolved, { projectId, contactId, now: moment, context });
    },
    changeSegment: async (segmentId, member) => changeMember(db, { projectId, segmentId, contactId, member }),
    startWorkflow: async (target, passed) => startByStep(db, execution, target, passed),
    projectTimezone: async () => timezoneOf(db, projectId),
    render: async (texts) => {
      const project = await Project.query(db).findById(projectId);
      // Links identify the mail that they were clicked in; here the execution takes its place.
      const item = variablesOf({
        contact,
        links: links?.contactLinks({ contactId, emailId: id }) ?? NO_LINKS,
        language: project?.language ?? 'en',
        event: context,
      });
      return Promise.all(texts.map((text) => renderText(renderer, text, item)));
    },
  };
  return { env, effects };
}

/** Returns the time zone of steps that name none. */
export const timezoneOf = async (db: Db, projectId: string): Promise<string> =>
  (await Project.query(db).findById(projectId).select('timezone'))?.timezone ?? 'UTC';

/** Returns the text unrendered when it exceeds the renderer's limits. */
export async function renderText(
  renderer: RunDeps['renderer'],
  text: string,
  item: ReturnType<typeof variablesOf>,
): Promise<string> {
  const [result] = await renderer.render({ subject: '', html: text, plain: true, items: [item] });
  return result?.ok ? result.html : text;
}
