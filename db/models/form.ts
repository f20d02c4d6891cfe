import { BaseModel } from './base.ts';

export const formStatuses = ['ACTIVE', 'PAUSED'] as const;
export type FormStatus = (typeof formStatuses)[number];
export const formFieldTypes = ['TEXT', 'NUMBER', 'DATE', 'BOOLEAN', 'SELECT', 'HIDDEN'] as const;
export type FormFieldType = (typeof formFieldTypes)[number];
export const confirmModes = ['LINK', 'BUTTON'] as const;
export type ConfirmMode = (typeof confirmModes)[number];
export const formMoments = ['submitted', 'confirmed', 'already', 'declined', 'expired'] as const;
export type FormMoment = (typeof formMoments)[number];

export type FieldValue = string | number | boolean;

export interface FormField {
  key: string;
  label: string;
  type: FormFieldType;
  required: boolean;
  options: string[];
  /** Characters of a value. */
  maxLength: number;
  default: FieldValue | null;
}

/** Texts of a form in another language; labels by key of the field. Names and consent texts of topics are the topics' own. */
export interface FormTranslation {
  name?: string | undefined;
  consentText?: string | undefined;
  submitLabel?: string | undefined;
  labels?: Record<string, string> | undefined;
  /** What visitors see of the options of a SELECT field, by key and value. */
  options?: Record<string, Record<string, string>> | undefined;
}

export type FormRedirects = Record<FormMoment, string | null>;

export interface FormDesign {
  color: string | null;
  css: string | null;
}

/** What visitors see, kept by version. */
export interface FormTexts {
  fields: FormField[];
  consentText: string;
  consentRequired: boolean;
  privacyUrl: string | null;
  translations: Record<string, FormTranslation>;
  submitLabel: string | null;
}

/** A form with which visitors subscribe. */
export class Form extends BaseModel implements FormTexts {
  static override tableName = 'forms';
  static override jsonAttributes = ['fields', 'redirects', 'translations', 'design'];

  declare id: string;
  declare projectId: string;
  declare key: string;
  declare name: string;
  declare status: FormStatus;
  declare topicIds: string[];
  declare fields: FormField[];
  declare consentText: string;
  declare consentRequired: boolean;
  declare privacyUrl: string | null;
  declare doubleOptIn: boolean;
  declare confirm: ConfirmMode;
  declare fromEmail: string | null;
  declare fromName: string | null;
  declare confirmationTemplateId: string | null;
  declare reminderAfterHours: number | null;
  declare expiresAfterHours: number;
  declare redirects: FormRedirects;
  declare allowedOrigins: string[];
  declare blockDisposable: boolean;
  declare captureTimezone: boolean;
  declare captureLocale: boolean;
  declare translations: Record<string, FormTranslation>;
  declare design: FormDesign;
  declare submitLabel: string | null;
  declare version: number;
  declare attackedSince: Date | null;
  declare updatedAt: Date;
  declare deletedAt: Date | null;
}
