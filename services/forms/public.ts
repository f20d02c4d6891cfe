// What visitors see of forms: those that are ACTIVE, of projects that are not disabled.
import { createHmac } from 'node:crypto';
import type { Db } from '../../db/connect.ts';
import { Form } from '../../db/models/form.ts';
import { statement } from '../../db/statement.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { isUuid } from '../../platform/ids.ts';
import { type Language, languageOf } from '../../platform/languages.ts';
import { translationsIn } from '../topics/texts.ts';
import { formNotFound } from './find.ts';

const readProject = statement<{ language: string }>(
  'form-project',
  'select language from projects where id = $1 and deleted_at is null and not disabled',
);

export interface PublicForm {
  form: Form;
  /** Of the project. */
  language: string;
}

const readLanguage = statement<{ language: string }>('form-language', 'select language from projects where id = $1');

/** A form of the project as its visitors would see it, whatever its state. */
export async function previewedForm(db: Db, form: Form): Promise<PublicForm> {
  const [project] = await readLanguage(db, [form.projectId]);
  return { form, language: project?.language ?? 'en' };
}

/** 404 for a form that does not exist, is PAUSED or whose project is disabled. */
export async function findPublicForm(db: Db, id: string): Promise<PublicForm> {
  const form = await Form.query(db).findById(id).where({ status: 'ACTIVE' }).whereNull('deletedAt');
  const [project] = form ? await readProject(db, [form.projectId]) : [];
  if (!form || !project) throw formNotFound();
  return { form, language: project.language };
}

/** Returns the origins that may read answers about a form: `*` for all, nothing for an unknown form. */
export async function findFormOrigins(db: Db, id: string): Promise<string[] | '*'> {
  if (!isUuid(id)) return [];
  const form = await Form.query(db).findById(id).whereNull('deletedAt').select('allowedOrigins');
  if (!form) return [];
  return form.allowedOrigins.length === 0 ? '*' : form.allowedOrigins;
}

/** The texts of a form as a visitor sees them. */
export interface FormWording {
  locale: string;
  language: Language;
  name: string;
  consentText: string;
  submitLabel: string | null;
  labelOf(key: string): string;
  optionOf(key: string, value: string): string;
}

/** In the language asked for, where the form has it; else in its own texts with ours in the language. */
export function wordingOf(
  { form, language: projectLanguage }: PublicForm,
  ...asked: (string | undefined)[]
): FormWording {
  const wanted = asked.find((tag) => tag) ?? projectLanguage;
  const found = translationsIn(form.translations, wanted);
  const textOf = (field: 'name' | 'consentText' | 'submitLabel') => found.find((texts) => texts[field])?.[field];
  return {
    locale: wanted,
    language: languageOf(wanted, projectLanguage),
    name: textOf('name') ?? form.name,
    consentText: textOf('consentText') ?? form.consentText,
    submitLabel: textOf('submitLabel') ?? form.submitLabel,
    optionOf: (key, value) => found.find((texts) => texts.options?.[key]?.[value])?.options?.[key]?.[value] ?? value,
    labelOf: (key) =>
      found.find((texts) => texts.labels?.[key])?.labels?.[key] ??
      form.fields.find((field) => field.key === key)?.label ??
      key,
  };
}

const NAME_LENGTH = 8;

/** The name of the field that people do not see; it changes with the version. */
export const honeypotOf = (keys: SigningKeys, { id, version }: Pick<Form, 'id' | 'version'>): string =>
  `_h${createHmac('sha256', keys[0]).update(`honeypot ${id} ${version}`).digest('hex').slice(0, NAME_LENGTH)}`;

const readOrigins = statement<{ origins: string[] }>(
  'public-key-origins',
  'select public_key_origins as origins from projects where id = $1',
);

/** Whether the project's policy lets a page of this origin use its public key. */
export async function mayUsePublicKey(db: Db, projectId: string, origin: string | undefined): Promise<boolean> {
  const [row] = await readOrigins(db, [projectId]);
  return row !== undefined && (row.origins.length === 0 || (origin !== undefined && row.origins.includes(origin)));
}
