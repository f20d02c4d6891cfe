import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import {
  Form,
  type FormDesign,
  type FormMoment,
  type FormRedirects,
  type FormTexts,
  formMoments,
} from '../../db/models/form.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, validationError } from '../../platform/errors.ts';
import { isUuid, newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { nameOfCopy } from '../../platform/names.ts';
import { keyOf } from '../../platform/slug.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { EXPIRY_HOURS, REMINDER_HOURS } from '../topics/confirmation.ts';
import { checkFields, checkForm, type GivenField } from './check.ts';
import { findForm, lockForm } from './find.ts';

export { confirmModes, formFieldTypes, formMoments, formStatuses } from '../../db/models/form.ts';

type Settable = Pick<
  Form,
  | 'name'
  | 'status'
  | 'topicIds'
  | 'consentText'
  | 'consentRequired'
  | 'privacyUrl'
  | 'doubleOptIn'
  | 'confirm'
  | 'fromName'
  | 'confirmationTemplateId'
  | 'reminderAfterHours'
  | 'expiresAfterHours'
  | 'allowedOrigins'
  | 'blockDisposable'
  | 'captureTimezone'
  | 'captureLocale'
  | 'translations'
  | 'submitLabel'
>;

/** Undefined keeps a field. */
export type FormChange = { [Name in keyof Settable]?: Settable[Name] | undefined } & {
  from?: string | null | undefined;
  fields?: GivenField[] | undefined;
  redirects?: { [Name in FormMoment]?: string | null | undefined } | undefined;
  design?: { [Name in keyof FormDesign]?: FormDesign[Name] | undefined } | undefined;
};

export type NewForm = FormChange & { name: string; key?: string | undefined };

export interface FormOptions {
  limits?: { forms: number };
  /** Hours are whole there. */
  production: boolean;
}

type FormColumns = { [Name in (typeof copiedColumns)[number]]: Form[Name] } & { name: string };

const DEFAULTS = {
  status: 'ACTIVE',
  topicIds: [],
  fields: [],
  consentText: '',
  consentRequired: false,
  privacyUrl: null,
  doubleOptIn: true,
  confirm: 'LINK',
  fromEmail: null,
  fromName: null,
  confirmationTemplateId: null,
  reminderAfterHours: REMINDER_HOURS,
  expiresAfterHours: EXPIRY_HOURS,
  allowedOrigins: [],
  blockDisposable: false,
  captureTimezone: true,
  captureLocale: true,
  translations: {},
  submitLabel: null,
  redirects: redirectsOf({}),
  design: { color: null, css: null },
} satisfies Partial<Form>;

const copiedColumns = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];

export async function createForm(
  db: Db,
  project: ProjectAccess,
  { key, ...input }: NewForm,
  { limits: { forms: max } = UNLIMITED, production }: FormOptions,
): Promise<Form> {
  const { projectId } = project;
  if (key !== undefined && isUuid(key))
    throw validationError([{ field: 'key', message: '"key" must not look like an id', code: 'custom' }]);
  const columns: FormColumns = { ...DEFAULTS, name: input.name, ...columnsOf(input) };
  return writing(db, project, async (trx) => {
    await requireBelowLimit(trx, { what: 'forms', projectId, max, keepsDeleted: true });
    await checkForm(trx, { ...columns, projectId }, undefined, production);
    return insertForm(trx, project, columns, key);
  });
}

/** Copies a form; the copy is PAUSED and has a new key. */
export async function duplicateForm(
  db: Db,
  project: ProjectAccess,
  id: string,
  { forms: max } = UNLIMITED,
): Promise<Form> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    await requireBelowLimit(trx, { what: 'forms', projectId, max, keepsDeleted: true });
    const original = await findForm(trx, projectId, id);
    const copied = Object.fromEntries(copiedColumns.map((name) => [name, original[name]])) as FormColumns;
    return insertForm(trx, project, { ...copied, name: nameOfCopy(original.name), status: 'PAUSED' }, undefined);
  });
}

async function insertForm(
  trx: Db,
  project: ProjectAccess,
  columns: FormColumns,
  key: string | undefined,
): Promise<Form> {
  const { projectId } = project;
  const form = await Form.query(trx)
    .insert({
      ...columns,
      id: newId(),
      projectId,
      key: await chooseKey(trx, projectId, key, columns.name),
      version: 1,
    })
    .returning('*');
  await storeVersion(trx, form);
  await requireTopicsFrom(trx, form);
  const { id, name, status } = form;
  await recordAudit(trx, project, {
    action: 'form.created',
    target: { type: 'form', id },
    changes: changesOf({}, { key: form.key, name, status }),
  });
  return form;
}

export async function updateForm(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: FormChange,
  { production }: FormOptions,
): Promise<Form> {
  const { projectId } = project;
  // A form of another project is 404, even when the change is invalid.
  await findForm(db, projectId, id);
  const columns = columnsOf(change);
  return writing(db, project, async (trx) => {
    const before = await lockForm(trx, projectId, id);
    const changes = changesOf<Partial<Form>>(before, columns);
    if (Object.keys(changes).length === 0) return before;
    await checkForm(trx, { ...before, ...columns, projectId }, before, production);
    const isNewVersion = !isDeepStrictEqual(textsOf(before), textsOf({ ...before, ...columns }));
    const version = before.version + (isNewVersion ? 1 : 0);
    const form = await before.$query(trx).patchAndFetch({ ...columns, version, updatedAt: new Date() });
    if (isNewVersion) await storeVersion(trx, form);
    await requireTopicsFrom(trx, form);
    await recordAudit(trx, project, { action: 'form.updated', target: { type: 'form', id }, changes });
    return form;
  });
}

/** The links of its submissions keep working, and its key is free. */
export async function deleteForm(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const form = await lockForm(trx, project.projectId, id);
    await form.$query(trx).patch({ deletedAt: new Date(), status: 'PAUSED' });
    await recordAudit(trx, project, {
      action: 'form.deleted',
      target: { type: 'form', id },
      changes: { name: { from: form.name, to: null } },
    });
  });
}

function columnsOf({ from, fields, redirects, design, topicIds, allowedOrigins, ...rest }: FormChange): Partial<Form> {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Partial<Form>;
  return {
    ...given,
    ...(from !== undefined && { fromEmail: from }),
    ...(fields && { fields: checkFields(fields) }),
    ...(redirects && { redirects: redirectsOf(redirects) }),
    ...(design && { design: { color: design.color ?? null, css: design.css ?? null } }),
    ...(topicIds && { topicIds: [...new Set(topicIds.map((id) => id.toLowerCase()))] }),
    ...(allowedOrigins && { allowedOrigins: [...new Set(allowedOrigins)] }),
  };
}

function redirectsOf(given: { [Name in FormMoment]?: string | null | undefined }): FormRedirects {
  return Object.fromEntries(formMoments.map((moment) => [moment, given[moment] ?? null])) as FormRedirects;
}

const textsOf = (form: FormTexts): FormTexts => ({
  fields: form.fields,
  consentText: form.consentText,
  consentRequired: form.consentRequired,
  privacyUrl: form.privacyUrl,
  translations: form.translations,
  submitLabel: form.submitLabel,
});

const insertVersion = statement(
  'form-version-insert',
  `insert into form_versions (form_id, version, project_id, fields, consent_text, consent_required, privacy_url, translations,
     submit_label)
   select id, version, project_id, fields, consent_text, consent_required, privacy_url, translations, submit_label
   from forms where project_id = $1 and id = $2`,
);

const storeVersion = (trx: Db, { projectId, id }: Form) => insertVersion(trx, [projectId, id]);

const requireTopicsOnce = statement(
  'form-require-topics',
  `update projects set topic_required = true, topic_required_decided = true where id = $1 and not topic_required_decided`,
);

/** The first form with topics requires one of all marketing email, unless a person has decided. */
async function requireTopicsFrom(trx: Db, { projectId, topicIds }: Form): Promise<void> {
  if (topicIds.length > 0) await requireTopicsOnce(trx, [projectId]);
}

/** The limit's lock serializes this. */
async function chooseKey(trx: Db, projectId: string, given: string | undefined, name: string): Promise<string> {
  const forms = await Form.query(trx).where({ projectId }).whereNull('deletedAt').select('key');
  const taken = forms.map(({ key }) => key);
  if (given === undefined) return keyOf(name, { fallback: 'form', taken });
  if (taken.includes(given)) throw new ApiError(409, 'CONFLICT', `The form "${given}" already exists.`);
  return given;
}
