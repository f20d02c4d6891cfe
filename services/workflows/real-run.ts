import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { Project } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import type { Renderer } from '../../platform/renderer/index.ts';
import { decideFor } from '../conditions/decide.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import { mergedTooLarge, readData } from '../contacts/data.ts';
import { isDataTooLarge } from '../contacts/faults.ts';
import type { MailLinks } from '../emails/links.ts';
import { variablesOf } from '../templates/variables.ts';
import type { HeldExecution } from './held-execution.ts';
import { sendStepEmail } from './send-step-email.ts';
import type { Run } from './steps/step-type.ts';

export interface RunDeps {
  renderer: Pick<Renderer, 'render'>;
  /** Where the contact's own pages are; without it their variables are empty. */
  links?: Pick<MailLinks, 'contactLinks'>;
  now: () => Date;
}

const NO_LINKS = { unsubscribeUrl: '', subscribeUrl: '', manageUrl: '' };

const change = statement(
  'execution-update-contact',
  `select is_changed from change_contact($1::uuid, $2::uuid, null, $3::boolean, $4::jsonb, $5::jsonb, $6::uuid,
     '{"reason": "workflow"}', cascade_depth()::integer)`,
);

/** What a step does, it does in the transaction that records it. */
export function realRun(
  trx: Db,
  { renderer, links, now }: RunDeps,
  execution: HeldExecution,
  contact: ContactRecord,
): Run {
  const { id, projectId, contactId, workflowId, workflowName, context } = execution;
  const moment = now();
  return {
    now: moment,
    contact,
    context,
    workflow: { id: workflowId, name: workflowName },
    execution: { id },
    sendEmail: (mail) => sendStepEmail(trx, execution, mail),
    updateContact: async ({ data, subscribed = null }) => {
      const { patch, deletes } = readData(data);
      const values = [projectId, contactId, subscribed, JSON.stringify(patch), JSON.stringify(deletes), newId()];
      try {
        // A savepoint: what is refused must not spoil the record of it.
        await trx.transaction((savepoint) => change(savepoint, values));
        return {};
      } catch (error) {
        if (!isDataTooLarge(error)) throw error;
        return { refused: mergedTooLarge.message };
      }
    },
    decide: async (parsed) => {
      const resolved = await resolveCondition(trx, projectId, parsed);
      return decideFor(trx, resolved, { projectId, contactId, now: moment, context });
    },
    render: async (texts) => {
      const project = await Project.query(trx).findById(projectId);
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
