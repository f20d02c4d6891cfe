import joi from 'joi';
import type { FieldValue, FormTranslation } from '../../db/models/form.ts';
import type { GivenField } from '../../services/forms/check.ts';
import { confirmModes, formFieldTypes, formStatuses } from '../../services/forms/save.ts';
import { origin } from './origin.ts';
import { color, css, httpUrl } from './page-schemas.ts';
import {
  dateTime,
  email,
  flag,
  line,
  list,
  namedType,
  nullable,
  object,
  oneOf,
  optional,
  request,
  text,
  uuid,
  wholeNumber,
} from './schemas.ts';
import { byLocale, hours } from './topic-schemas.ts';
import type { Typed } from './typed.ts';

const MAX_NAME = 255;
const MAX_TOPICS = 100;
const MAX_FIELDS = 30;
const MAX_OPTIONS = 100;
const MAX_OPTION = 200;
const MAX_KEY = 100;
const MAX_LABEL = 500;
const MAX_CONSENT = 5_000;
const MAX_SUBMIT_LABEL = 100;
const MAX_ORIGINS = 100;
const MAX_VALUE = 10_000;

export const formKey = (): Typed<string> =>
  joi
    .string()
    .pattern(/^[a-z0-9-]{1,50}$/)
    .required();

/** A value of a field. */
export const fieldValue = (): Typed<FieldValue> =>
  joi.alternatives(joi.string().allow('').max(MAX_VALUE), joi.number(), joi.boolean()).required();

const field = (): Typed<GivenField> =>
  namedType('GivenFormField', 'A field that visitors fill in.', {
    key: text({ max: MAX_KEY }).description('Name of the custom field of the contact.').example('firstName'),
    label: text({ min: 0, max: MAX_LABEL }).description('Text beside the field.').example('First name'),
    type: optional(oneOf(...formFieldTypes)).description('TEXT by default.'),
    required: optional(flag()).description('Whether a value is required; not by default.'),
    options: optional(list(text({ max: MAX_OPTION }), { max: MAX_OPTIONS })).description('Values of a SELECT field.'),
    maxLength: optional(wholeNumber({ min: 1, max: MAX_VALUE })).description('Most characters; 500 by default.'),
    default: optional(nullable(fieldValue())).description('Value that is filled in; always that of a HIDDEN field.'),
  });

const translation = (): Typed<FormTranslation> =>
  object({
    name: optional(text({ max: MAX_NAME })).description('Name in this language.'),
    consentText: optional(text({ min: 0, max: MAX_CONSENT })).description('Consent text in this language.'),
    submitLabel: optional(text({ max: MAX_SUBMIT_LABEL })).description('Text of the button in this language.'),
    labels: optional(
      joi
        .object()
        .pattern(/^/, text({ min: 0, max: MAX_LABEL }))
        .max(MAX_FIELDS)
        .required() as Typed<Record<string, string>>,
    ).description('Labels in this language by key of the field.'),
    options: optional(
      joi
        .object()
        .pattern(
          /^/,
          joi
            .object()
            .pattern(/^/, text({ max: MAX_OPTION }))
            .max(MAX_OPTIONS)
            .required(),
        )
        .max(MAX_FIELDS)
        .required() as Typed<Record<string, Record<string, string>>>,
    ).description('What visitors see of the options of SELECT fields in this language, by key and value.'),
  });

const redirect = (when: string) => optional(nullable(httpUrl())).description(`Where visitors are sent ${when}.`);

const redirectTexts = {
  submitted: 'after they submitted',
  confirmed: 'after they confirmed',
  already: 'who have confirmed before',
  declined: 'after they declined',
  expired: 'who confirm too late',
} as const;

const settings = {
  status: optional(oneOf(...formStatuses)).description('ACTIVE by default. A PAUSED form is not found by visitors.'),
  topicIds: optional(list(uuid(), { max: MAX_TOPICS })).description(
    'Topics that visitors subscribe to. If empty, they subscribe to all email.',
  ),
  fields: optional(list(field(), { max: MAX_FIELDS })).description('Fields besides the email address.'),
  consentText: optional(text({ min: 0, max: MAX_CONSENT })).description('What visitors agree to, in plain text.'),
  consentRequired: optional(flag()).description('Whether visitors check a box beside the consent text.'),
  privacyUrl: optional(nullable(httpUrl())).description('URL of the privacy policy.'),
  doubleOptIn: optional(flag()).description('Whether a new address is confirmed by email; so by default.'),
  confirm: optional(oneOf(...confirmModes)).description(
    'LINK: the page behind the link confirms once it detects a person. BUTTON: a button is pressed there.',
  ),
  from: optional(nullable(email())).description('Sender of confirmation emails, on a verified domain.'),
  fromName: optional(nullable(line({ max: 255 }))).description('Name of the sender.'),
  confirmationTemplateId: optional(nullable(uuid())).description(
    'A TRANSACTIONAL template with {{confirmUrl}}; the built-in text if null.',
  ),
  reminderAfterHours: optional(nullable(hours())).description(
    'Hours until the reminder, 48 by default; null for none.',
  ),
  expiresAfterHours: optional(hours()).description('Hours until the confirmation expires, 168 by default.'),
  redirects: optional(
    object({
      submitted: redirect(redirectTexts.submitted),
      confirmed: redirect(redirectTexts.confirmed),
      already: redirect(redirectTexts.already),
      declined: redirect(redirectTexts.declined),
      expired: redirect(redirectTexts.expired),
    }),
  ).description('Pages of your site, instead of the built-in ones.'),
  allowedOrigins: optional(list(origin(), { max: MAX_ORIGINS })).description(
    'Origins of web pages that may use the form. If empty, all may.',
  ),
  blockDisposable: optional(flag()).description('Whether disposable addresses are refused; not by default.'),
  captureTimezone: optional(flag()).description('Whether `data.timezone` is set where the contact has none.'),
  captureLocale: optional(flag()).description('Whether `data.locale` is set where the contact has none.'),
  translations: optional(byLocale(translation()))
    .description('Texts by BCP 47 tag.')
    .example({ de: { submitLabel: 'Abonnieren' } }),
  design: optional(
    object({
      color: optional(nullable(color())).description('Color of buttons and links, as #rrggbb.'),
      css: optional(nullable(css())).description('Styles added to the page, at most 20,000 bytes.'),
    }),
  ).description('Look of the page.'),
  submitLabel: optional(nullable(text({ max: MAX_SUBMIT_LABEL }))).description('Text of the button.'),
};

export const createFormRequest = request('CreateFormRequest', 'A form to create.', {
  name: text({ max: MAX_NAME }).description('Name of the form, which visitors see.').example('Newsletter'),
  key: optional(formKey()).description('Key; made of the name by default.').example('newsletter'),
  ...settings,
});

export const updateFormRequest = request(
  'UpdateFormRequest',
  'The changes; fields that are left out stay as they are.',
  { name: optional(text({ max: MAX_NAME })).description('Name of the form.'), ...settings },
);

const shownField = namedType('FormField', 'A field that visitors fill in.', {
  key: text().description('Name of the custom field of the contact.'),
  label: text({ min: 0 }).description('Text beside the field.'),
  type: oneOf(...formFieldTypes).description('Type of its value.'),
  required: flag().description('Whether a value is required.'),
  options: list(text()).description('Values of a SELECT field.'),
  maxLength: wholeNumber({ min: 1 }).description('Most characters.'),
  default: nullable(fieldValue()).description('Value that is filled in; null for none.'),
});

const shownRedirect = (when: string) =>
  nullable(text()).description(`Where visitors are sent ${when}; null for a page.`);

export const formSchema = namedType('Form', 'A form with which visitors subscribe.', {
  id: uuid().description('Form ID.'),
  key: text().description('Name in events and requests; fixed.'),
  name: text().description('Name of the form, which visitors see.'),
  status: oneOf(...formStatuses).description('A PAUSED form is not found by visitors.'),
  topicIds: list(uuid()).description('Topics that visitors subscribe to; all email if empty.'),
  fields: list(shownField).description('Fields besides the email address.'),
  consentText: text({ min: 0 }).description('What visitors agree to.'),
  consentRequired: flag().description('Whether visitors check a box beside the consent text.'),
  privacyUrl: nullable(text()).description('URL of the privacy policy; null for none.'),
  doubleOptIn: flag().description('Whether a new address is confirmed by email.'),
  confirm: oneOf(...confirmModes).description('How the page behind the link confirms.'),
  from: nullable(email()).description('Sender of confirmation emails; null for that of template or pages.'),
  fromName: nullable(text()).description('Name of the sender; null for none.'),
  confirmationTemplateId: nullable(uuid()).description('Template of the confirmation; null for the built-in text.'),
  reminderAfterHours: nullable(hours()).description('Hours until the reminder; null for none.'),
  expiresAfterHours: hours().description('Hours until the confirmation expires.'),
  redirects: object({
    submitted: shownRedirect(redirectTexts.submitted),
    confirmed: shownRedirect(redirectTexts.confirmed),
    already: shownRedirect(redirectTexts.already),
    declined: shownRedirect(redirectTexts.declined),
    expired: shownRedirect(redirectTexts.expired),
  }).description('Pages of your site.'),
  allowedOrigins: list(text()).description('Origins of web pages that may use the form; all if empty.'),
  blockDisposable: flag().description('Whether disposable addresses are refused.'),
  captureTimezone: flag().description('Whether `data.timezone` is set where the contact has none.'),
  captureLocale: flag().description('Whether `data.locale` is set where the contact has none.'),
  translations: joi.object().pattern(/^/, translation()).required().description('Texts by locale.') as Typed<
    Record<string, object>
  >,
  design: object({
    color: nullable(text()).description('Color of buttons and links; null for that of the pages.'),
    css: nullable(text({ min: 0 })).description('Styles added to the page; null for none.'),
  }).description('Look of the page.'),
  submitLabel: nullable(text()).description('Text of the button; null for the built-in one.'),
  version: wholeNumber({ min: 1 }).description('Number of the version of fields and texts.'),
  attackedSince: nullable(dateTime()).description('Since when the form is under attack; null if it is not.'),
  urls: object({
    page: text().description('URL of the page.'),
    script: text().description('URL of the script that shows the form in your page.'),
  }).description('Addresses of the form.'),
  projectId: uuid().description('Project ID.'),
  createdAt: dateTime().description('When the form was created.'),
  updatedAt: dateTime().description('When the form last changed.'),
});
