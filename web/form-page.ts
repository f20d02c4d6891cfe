import type { FormTexts } from './form-texts.ts';
import { type Page, type PagePolicy, type RenderedPage, render, renderPart } from './pages.ts';

export interface ShownField {
  key: string;
  label: string;
  type: string;
  inputType: 'text' | 'number' | 'date';
  required: boolean;
  options: { value: string; text: string }[];
  maxLength: number;
  default: string | number | boolean | null;
}

/** The form itself: of its page, of a page elsewhere, or of an e-mail program that shows HTML. */
export interface FormParts {
  action: string;
  texts: FormTexts;
  fields: ShownField[];
  /** A box for each where a visitor chooses between several. */
  topics: { key: string; name: string; consentText: string }[];
  /** Of the only topic. */
  topicConsentText: string;
  consentRequired: boolean;
  consentText: string;
  privacyUrl: string | null;
  hidden: Record<string, string>;
  honeypot: string | null;
  submitLabel: string;
}

export const formHtml = (parts: FormParts): string => renderPart('form-fields.njk', parts).replace(/\n+/g, '\n').trim();

export interface FormPage extends Page {
  formHtml: string;
  script: string;
  privacyText: string;
}

export const formPage = (page: FormPage, policy: PagePolicy): RenderedPage =>
  render('form.njk', page, { ...policy, script: true });
