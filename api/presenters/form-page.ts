import type { Form } from '../../db/models/form.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { DARK_PAGE, LIGHT_PAGE, pageColorsOf } from '../../platform/page-colors.ts';
import { type FormWording, honeypotOf } from '../../services/forms/public.ts';
import { formUrls } from '../../services/forms/urls.ts';
import { confirmationPage } from '../../web/confirmation-page.ts';
import { type FormParts, formHtml, formPage, type ShownField } from '../../web/form-page.ts';
import { embedScript, type FormScriptOptions, pageScript } from '../../web/form-script.ts';
import { formTexts } from '../../web/form-texts.ts';
import type { PageBrand } from '../../web/pages.ts';
import { preferencesTexts } from '../../web/preferences-texts.ts';
import type { Answer } from '../http/answers.ts';

/** A form as a visitor sees it. */
export interface FormView {
  form: Form;
  wording: FormWording;
  topics: { key: string; name: string; consentText: string }[];
  baseUrl: string;
  keys: SigningKeys;
}

const inputTypes: Record<string, ShownField['inputType']> = { NUMBER: 'number', DATE: 'date' };

const partsOf = ({ form, wording, topics, baseUrl, keys }: FormView, hidden: Record<string, string>): FormParts => ({
  action: formUrls(baseUrl, form.id).page,
  texts: formTexts[wording.language],
  fields: form.fields.map((field) => ({
    ...field,
    label: wording.labelOf(field.key),
    options: field.options.map((value) => ({ value, text: wording.optionOf(field.key, value) })),
    inputType: inputTypes[field.type] ?? 'text',
  })),
  topics: topics.length > 1 ? topics : [],
  topicConsentText: topics.length === 1 ? (topics[0]?.consentText ?? '') : '',
  consentRequired: form.consentRequired,
  consentText: wording.consentText,
  privacyUrl: form.privacyUrl,
  hidden: { lang: wording.locale, ...hidden },
  honeypot: honeypotOf(keys, form),
  submitLabel: wording.submitLabel ?? formTexts[wording.language].submit,
});

const scriptOptions = ({ form, wording, baseUrl, keys }: FormView): FormScriptOptions => {
  const { thanks, thanksText, invalid, tooMany, failed, working } = formTexts[wording.language];
  return {
    url: formUrls(baseUrl, form.id).page,
    formId: form.id,
    lang: wording.locale,
    redirect: form.redirects.submitted,
    texts: { thanks, thanksText, invalid, tooMany, failed, working },
    honeypot: honeypotOf(keys, form),
  };
};

/** A plain form, without script and token, for any page. */
export const plainForm = (view: FormView): string => formHtml({ ...partsOf(view, {}), honeypot: null });

/** The script that shows the form in the page that loads it. */
export const scriptOf = (view: FormView): string => embedScript(scriptOptions(view), formHtml(partsOf(view, {})));

const framing = ({ form }: FormView) => ({
  frameAncestors: form.allowedOrigins.length > 0 ? form.allowedOrigins : ['*'],
  formAction: originsOf(form),
});

const originsOf = ({ redirects }: Form): string[] => [
  ...new Set(Object.values(redirects).flatMap((url) => (url ? [new URL(url).origin] : []))),
];

/** The form's own page, which may be framed by the pages that may use the form. */
export function presentFormPage(view: FormView, brand: PageBrand | undefined, token: string): Answer {
  const { form, wording } = view;
  const { color, css } = form.design;
  const page = formPage(
    {
      language: wording.language,
      title: wording.name,
      // The form links its own policy where it asks for consent.
      brand: brand && { ...withDesign(brand, color, css), ...(form.privacyUrl && { privacyUrl: null }) },
      privacyText: formTexts[wording.language].privacy,
      formHtml: formHtml(partsOf(view, { _token: token })),
      script: pageScript(scriptOptions(view)),
    },
    framing(view),
  );
  return { status: 200, ...page };
}

const withDesign = (brand: PageBrand, color: string | null, css: string | null): PageBrand => ({
  ...brand,
  ...(color && {
    colors: pageColorsOf(color, LIGHT_PAGE),
    darkColors: pageColorsOf(color, DARK_PAGE),
  }),
  css: `${brand.css ?? ''}\n${css ?? ''}`,
});

/** The page after a form was sent, and the one with one more button. */
export function presentSubmitted(view: FormView, brand: PageBrand | undefined): Answer {
  const texts = formTexts[view.wording.language];
  return notice(view, brand, texts.thanks, texts.thanksText);
}

export function presentContinue(
  view: FormView,
  brand: PageBrand | undefined,
  continuation: string,
  waits: boolean,
): Answer {
  const texts = formTexts[view.wording.language];
  const form = {
    action: formUrls(view.baseUrl, view.form.id).page,
    button: texts.send,
    fields: { _continue: continuation },
  };
  return notice(view, brand, texts.continue, waits ? texts.waitText : texts.continueText, form);
}

function notice(
  view: FormView,
  brand: PageBrand | undefined,
  title: string,
  text: string,
  form?: { action: string; button: string; fields: Record<string, string> },
): Answer {
  const { language } = view.wording;
  const { formAction, frameAncestors } = framing(view);
  const page = confirmationPage(
    {
      language,
      brand,
      title,
      paragraphs: [text],
      done: form === undefined,
      forms: form ? [form] : [],
      privacyText: preferencesTexts[language].privacy,
    },
    false,
    formAction,
    frameAncestors,
  );
  return { status: 200, ...page };
}
