// A form as its editor has it.
import type { CreateFormRequest, Form, GivenFormField } from '../../api/api-types.ts';
import { DEFAULT, EXPIRY_HOURS, REMINDER_HOURS } from '../topics/form.ts';

export type FieldType = Form['fields'][number]['type'];
export type Moment = keyof Form['redirects'];

export const fieldTypes: FieldType[] = ['TEXT', 'NUMBER', 'DATE', 'BOOLEAN', 'SELECT', 'HIDDEN'];
export const moments: Moment[] = ['submitted', 'confirmed', 'already', 'declined', 'expired'];

export const MAX_FIELDS = 30;
const MAX_LENGTH = 500;

export interface FieldDraft {
  /** Stays the same while the key is edited. */
  id: string;
  key: string;
  type: FieldType;
  required: boolean;
  /** One per line. */
  options: string;
  maxLength: number | '';
  /** As it is typed; `true` for a checkbox that is checked. */
  value: string;
}

/** The texts in one language; labels and options by id of the field. */
export interface DraftTexts {
  name: string;
  consentText: string;
  submitLabel: string;
  labels: Record<string, string>;
  /** What visitors see of the options, one per line, in their order. Those of the form itself are in its fields. */
  options: Record<string, string>;
}

export interface FormDraft {
  topicIds: string[];
  fields: FieldDraft[];
  consentRequired: boolean;
  privacyUrl: string;
  doubleOptIn: boolean;
  confirm: Form['confirm'];
  templateId: string;
  from: string;
  fromName: string;
  reminderAfterHours: number | '';
  expiresAfterHours: number | '';
  redirects: Record<Moment, string>;
  /** One per line. */
  allowedOrigins: string;
  blockDisposable: boolean;
  captureTimezone: boolean;
  captureLocale: boolean;
  color: string | null;
  css: string;
  /** By locale; those of the form itself under DEFAULT. */
  texts: Record<string, DraftTexts>;
}

/** What panels of the editor share. */
export interface DraftProps {
  draft: FormDraft;
  onChange(part: Partial<FormDraft>): void;
  readOnly: boolean;
}

export const noTexts = (): DraftTexts => ({ name: '', consentText: '', submitLabel: '', labels: {}, options: {} });

export const newField = (): FieldDraft => ({
  id: crypto.randomUUID(),
  key: '',
  type: 'TEXT',
  required: false,
  options: '',
  maxLength: MAX_LENGTH,
  value: '',
});

export const emptyDraft = (): FormDraft => ({
  topicIds: [],
  fields: [],
  consentRequired: false,
  privacyUrl: '',
  doubleOptIn: true,
  confirm: 'LINK',
  templateId: '',
  from: '',
  fromName: '',
  reminderAfterHours: REMINDER_HOURS,
  expiresAfterHours: EXPIRY_HOURS,
  redirects: { submitted: '', confirmed: '', already: '', declined: '', expired: '' },
  allowedOrigins: '',
  blockDisposable: false,
  captureTimezone: true,
  captureLocale: true,
  color: null,
  css: '',
  texts: { [DEFAULT]: noTexts() },
});

export function draftOf(form: Form): FormDraft {
  const fields = form.fields.map(
    ({ key, type, required, options, maxLength, default: value }): FieldDraft => ({
      id: key,
      key,
      type,
      required,
      options: options.join('\n'),
      maxLength,
      value: value === null || value === false ? '' : String(value),
    }),
  );
  const own: DraftTexts = {
    name: form.name,
    consentText: form.consentText,
    submitLabel: form.submitLabel ?? '',
    labels: Object.fromEntries(form.fields.map(({ key, label }) => [key, label])),
    options: {},
  };
  const translated = Object.entries(form.translations).map(([locale, texts]) => {
    const options = form.fields.flatMap((field) => {
      const shown = texts.options?.[field.key];
      return shown ? [[field.key, field.options.map((value) => shown[value] ?? '').join('\n')]] : [];
    });
    return [locale, { ...noTexts(), ...texts, options: Object.fromEntries(options) }];
  });
  return {
    topicIds: form.topicIds,
    fields,
    consentRequired: form.consentRequired,
    privacyUrl: form.privacyUrl ?? '',
    doubleOptIn: form.doubleOptIn,
    confirm: form.confirm,
    templateId: form.confirmationTemplateId ?? '',
    from: form.from ?? '',
    fromName: form.fromName ?? '',
    reminderAfterHours: form.reminderAfterHours ?? '',
    expiresAfterHours: form.expiresAfterHours,
    redirects: mapMoments((moment) => form.redirects[moment] ?? ''),
    allowedOrigins: form.allowedOrigins.join('\n'),
    blockDisposable: form.blockDisposable,
    captureTimezone: form.captureTimezone,
    captureLocale: form.captureLocale,
    color: form.design.color,
    css: form.design.css ?? '',
    texts: { [DEFAULT]: own, ...Object.fromEntries(translated) },
  };
}

const mapMoments = <Value>(read: (moment: Moment) => Value) =>
  Object.fromEntries(moments.map((moment) => [moment, read(moment)])) as Record<Moment, Value>;

/** The body of the API; key and status are chosen elsewhere. */
export function requestOf(draft: FormDraft): Omit<CreateFormRequest, 'key' | 'status'> {
  const { [DEFAULT]: own = noTexts(), ...translated } = draft.texts;
  return {
    name: own.name.trim(),
    consentText: own.consentText.trim(),
    submitLabel: textOrNull(own.submitLabel),
    fields: draft.fields.map((field) => fieldRequest(field, own.labels[field.id] ?? '')),
    translations: Object.fromEntries(
      Object.entries(translated).map(([locale, texts]) => [locale, translationOf(texts, draft.fields)]),
    ),
    topicIds: draft.topicIds,
    consentRequired: draft.consentRequired,
    privacyUrl: textOrNull(draft.privacyUrl),
    doubleOptIn: draft.doubleOptIn,
    confirm: draft.confirm,
    confirmationTemplateId: draft.templateId || null,
    from: textOrNull(draft.from),
    fromName: textOrNull(draft.fromName),
    reminderAfterHours: draft.reminderAfterHours === '' ? null : draft.reminderAfterHours,
    ...(draft.expiresAfterHours !== '' && { expiresAfterHours: draft.expiresAfterHours }),
    redirects: mapMoments((moment) => textOrNull(draft.redirects[moment])),
    allowedOrigins: linesOf(draft.allowedOrigins),
    blockDisposable: draft.blockDisposable,
    captureTimezone: draft.captureTimezone,
    captureLocale: draft.captureLocale,
    design: { color: draft.color, css: textOrNull(draft.css) },
  };
}

const textOrNull = (text: string): string | null => text.trim() || null;

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const fieldRequest = (field: FieldDraft, label: string): GivenFormField => ({
  key: field.key.trim(),
  label: label.trim(),
  type: field.type,
  required: field.required && field.type !== 'HIDDEN',
  options: field.type === 'SELECT' ? linesOf(field.options) : [],
  ...(field.maxLength !== '' && { maxLength: field.maxLength }),
  default: defaultOf(field),
});

/** Values that their type cannot hold are sent as they are, for the API to refuse. */
function defaultOf({ type, value }: FieldDraft): string | number | boolean | null {
  const text = value.trim();
  if (text === '') return null;
  if (type === 'BOOLEAN') return text === 'true';
  return type === 'NUMBER' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A text that is left empty is the default one. */
function translationOf({ labels, options, ...texts }: DraftTexts, fields: FieldDraft[]) {
  const written = Object.entries(texts)
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([, text]) => text !== '');
  const ownLabels = fields
    .map(({ id, key }) => [key.trim(), (labels[id] ?? '').trim()] as const)
    .filter(([key, label]) => key !== '' && label !== '');
  const ownOptions = fields
    .filter(({ type, key }) => type === 'SELECT' && key.trim() !== '')
    .map((field) => [field.key.trim(), optionTexts(field, options[field.id])] as const)
    .filter(([, shown]) => Object.keys(shown).length > 0);
  return {
    ...Object.fromEntries(written),
    ...(ownLabels.length > 0 && { labels: Object.fromEntries(ownLabels) }),
    ...(ownOptions.length > 0 && { options: Object.fromEntries(ownOptions) }),
  };
}

/** What visitors see of options, by value. */
export function optionTexts({ options }: FieldDraft, translated = ''): Record<string, string> {
  const lines = translated.split('\n').map((line) => line.trim());
  const entries = linesOf(options).map((value, at) => [value, lines[at] ?? ''] as const);
  return Object.fromEntries(entries.filter(([, text]) => text !== ''));
}

/** The texts of a locale, with the default ones where it has none. */
export function shownTexts(texts: FormDraft['texts'], locale: string): DraftTexts {
  const own = texts[DEFAULT] ?? noTexts();
  const translated = texts[locale] ?? own;
  return {
    name: translated.name || own.name,
    consentText: translated.consentText || own.consentText,
    submitLabel: translated.submitLabel || own.submitLabel,
    labels: { ...own.labels, ...Object.fromEntries(Object.entries(translated.labels).filter(([, label]) => label)) },
    options: translated.options,
  };
}
