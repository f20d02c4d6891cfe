import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { Project } from '../../db/models/project.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { Renderer } from '../../platform/renderer/index.ts';
import { decideFor } from '../conditions/decide.ts';
import { decides } from '../conditions/read.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { type Data, readData } from '../contacts/data.ts';
import { fieldsFault, keysFault, roomFor } from '../contacts/limits.ts';
import type { MailLinks } from '../emails/links.ts';
import { variablesOf } from '../templates/variables.ts';
import type { ExecutionState } from './execution-state.ts';
import { type Effects, StaleExecution } from './records.ts';
import { mailOf, planStepEmail } from './send-step-email.ts';
import type { Run } from './steps/step-type.ts';

export interface RunDeps {
  renderer: Pick<Renderer, 'render'>;
  /** Where the contact's own pages are; without it their variables are empty. */
  links?: Pick<MailLinks, 'contactLinks'>;
  now: () => Date;
  limits?: Limits;
  /** Open and seal the headers of webhooks. */
  keys: SigningKeys;
}

const NO_LINKS = { unsubscribeUrl: '', subscribeUrl: '', manageUrl: '' };

/** Of conditions that ask about nothing but the contact and the context. */
const NOTHING_ELSE = { events: [], staticSegments: new Set<string>(), segments: new Map() };

/** What a step asks to be done is done by the statement that records it. */
export function realRun(
  db: Db,
  { renderer, links, now, limits = UNLIMITED }: RunDeps,
  execution: ExecutionState,
  contact: ContactRecord,
  /** Why its contact cannot be changed, where that has been tried. */
  refused: string | undefined,
): { run: Run; effects: Effects } {
  const { id, projectId, contactId, workflowId, workflowName, context, rowVersions } = execution;
  const moment = now();
  const effects: Effects = {};
  // Without the locks the statement that moves the execution asks, and where it moves nothing the step is run again.
  const fieldsRefusal = async (patch: Data) =>
    rowVersions !== null || (await roomFor(db, projectId, patch, limits)) ? undefined : fieldsFault(limits);
  const run: Run = {
    now: moment,
    contact,
    context,
    workflow: { id: workflowId, name: workflowName },
    execution: { id },
    sendEmail: async (mail) => {
      const plan = await planStepEmail(db, execution, mail);
      if (!('template' in plan)) return plan;
      effects.mail = mailOf(plan, mail, contact);
      return { emailId: effects.mail.id };
    },
    updateContact: async ({ data, subscribed = null }) => {
      if (refused !== undefined) return { refused };
      const { patch, deletes } = readData(data);
      const fault = keysFault(data, limits) ?? (await fieldsRefusal(patch));
      if (fault) return { refused: fault.message };
      effects.change = { subscribed, patch, deletes, eventId: newId() };
      if (rowVersions !== null) effects.maxFields = limits.customFields;
      return {};
    },
    decide: async (parsed) => {
      const { condition, uses } = parsed;
      if (uses.events.size === 0 && uses.segments.size === 0)
        return decides(condition, { ...NOTHING_ELSE, contact, context, now: moment });
      // Events are written under the contact's lock.
      if (rowVersions !== null) throw new StaleExecution();
      const resolved = await resolveCondition(db, projectId, parsed);
      return decideFor(db, resolved, { projectId, contactId, now: moment, context });
    },
    render: async (texts) => {
      const project = await Project.query(db).findById(projectId);
      // They name the mail that led to them; here that is the execution.
      const item = variablesOf({
        contact,
        links: links?.contactLinks({ contactId, emailId: id }) ?? NO_LINKS,
        language: project?.language ?? 'en',
        event: context,
      });
      return Promise.all(texts.map((text) => renderText(renderer, text, item)));
    },
  };
  return { run, effects };
}

/** What asks for too much stays as it was written. */
export async function renderText(
  renderer: RunDeps['renderer'],
  text: string,
  item: ReturnType<typeof variablesOf>,
): Promise<string> {
  const [result] = await renderer.render({ subject: '', html: text, plain: true, items: [item] });
  return result?.ok ? result.html : text;
}
