// The rules of a form that a schema alone cannot state.
import type { Db } from '../../db/connect.ts';
import type { Form, FormField } from '../../db/models/form.ts';
import { Topic } from '../../db/models/topic.ts';
import { type Violation, validationError } from '../../platform/errors.ts';
import { isReservedField } from '../contacts/data.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import { findConfirmationTemplate, hoursViolations } from '../topics/confirmation.ts';
import { archivedTopic, topicNotFound } from '../topics/find.ts';
import { requireSender } from '../topics/sender.ts';
import { DEFAULT_MAX_LENGTH, readFieldValue } from './field-values.ts';

/** A field as a request gives it. */
export type GivenField = Pick<FormField, 'key' | 'label'> & {
  [Name in Exclude<keyof FormField, 'key' | 'label'>]?: FormField[Name] | undefined;
};

/** Names of a form post that are no fields. */
const OWN_NAMES = new Set(['topic', 'consent', 'lang']);

const violation = (field: string, rule: string): Violation => ({
  field,
  message: `"${field}" ${rule}`,
  code: 'custom',
});

/** Fills in the defaults of fields; 422 for a key that no field can have or that is there twice. */
export function checkFields(given: GivenField[]): FormField[] {
  const errors: Violation[] = [];
  const seen = new Set<string>();
  const fields = given.map((input, n): FormField => {
    const at = `fields.${n}`;
    const { key } = input;
    if (isReservedField(key) || OWN_NAMES.has(key) || key.startsWith('_'))
      errors.push(violation(`${at}.key`, `must not be "${key}", which is reserved`));
    if (seen.has(key)) errors.push(violation(`${at}.key`, `must not be "${key}", which another field has`));
    seen.add(key);
    const field: FormField = {
      key,
      label: input.label,
      type: input.type ?? 'TEXT',
      required: input.required ?? false,
      options: input.options ?? [],
      maxLength: input.maxLength ?? DEFAULT_MAX_LENGTH,
      default: input.default ?? null,
    };
    if (field.type === 'SELECT' && field.options.length === 0)
      errors.push(violation(`${at}.options`, 'must have at least one option for a SELECT field'));
    if (field.default !== null) {
      const read = readFieldValue(field, field.default);
      if ('rule' in read) errors.push(violation(`${at}.default`, read.rule));
      else field.default = read.value;
    }
    return field;
  });
  if (errors.length > 0) throw validationError(errors);
  return fields;
}

type CheckedForm = Pick<
  Form,
  | 'projectId'
  | 'status'
  | 'topicIds'
  | 'reminderAfterHours'
  | 'expiresAfterHours'
  | 'confirmationTemplateId'
  | 'fromEmail'
>;

/**
 * Checks a form as it will be saved, and locks what it names until the transaction ends. `before` is what it was: it keeps
 * topics that have been archived since.
 */
export async function checkForm(
  trx: Db,
  form: CheckedForm,
  before: Pick<Form, 'topicIds' | 'fromEmail'> | undefined,
  production: boolean,
): Promise<void> {
  const { projectId, status, topicIds, fromEmail, confirmationTemplateId } = form;
  const errors = hoursViolations(form, production);
  const found = confirmationTemplateId
    ? await findConfirmationTemplate(trx, projectId, confirmationTemplateId, 'confirmationTemplateId')
    : undefined;
  if (found) errors.push(...found.violations);
  if (errors.length > 0) throw validationError(errors);
  await requireTopics(trx, projectId, topicIds, before?.topicIds ?? []);
  if (fromEmail && fromEmail !== before?.fromEmail) await requireVerifiedSender(trx, projectId, fromEmail);
  if (status === 'ACTIVE')
    await requireSender(trx, projectId, 'An ACTIVE form', {
      from: fromEmail,
      templateFrom: found?.template?.fromEmail,
    });
}

async function requireTopics(trx: Db, projectId: string, ids: string[], before: string[]): Promise<void> {
  if (ids.length === 0) return;
  // In the order of their ids, so that two forms do not lock them in a circle.
  const topics = await Topic.query(trx).where({ projectId }).whereIn('id', ids).orderBy('id').forShare();
  for (const id of ids) {
    const topic = topics.find((other) => other.id === id);
    if (!topic) throw topicNotFound();
    if (topic.archived && !before.includes(id)) throw archivedTopic(topic, 'topicIds');
  }
}
