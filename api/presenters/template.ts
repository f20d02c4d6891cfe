import type { Template } from '../../db/models/template.ts';
import { contentEditorOf } from '../../services/mail-documents/content.ts';
import { templateTypes } from '../../services/templates/save.ts';
import type { ListedTemplateVersion, TemplateVersion } from '../../services/templates/versions.ts';
import {
  dateTime,
  email,
  flag,
  list,
  namedType,
  nullable,
  object,
  oneOf,
  optional,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { contentShape, documentAnswer } from './mail-document.ts';

const subject = text().description('Subject, with variables.');

const shownShape = {
  name: text().description('Template name.'),
  description: nullable(text({ min: 0 })).description('Internal description; null if there is none.'),
  subject,
  body: text().description('HTML body, with variables.'),
  ...contentShape,
  from: nullable(email()).description('Email address of the sender; null if there is none.'),
  fromName: nullable(text({ min: 0 })).description('Name of the sender; null if there is none.'),
  replyTo: nullable(email()).description('Reply-To address; null if there is none.'),
  type: oneOf(...templateTypes).description(
    'TRANSACTIONAL is sent to all contacts, MARKETING and HEADLESS only to subscribed ones. ' +
      'MARKETING adds an unsubscribe footer.',
  ),
};

export const templateSchema = namedType('Template', 'Reusable content of emails.', {
  id: uuid().description('Template ID.'),
  ...shownShape,
  topicId: nullable(uuid()).description('Topic of the email; null if it has none.'),
  projectId: uuid().description('Project ID.'),
  createdAt: dateTime().description('When the template was created.'),
  updatedAt: dateTime().description('When the template last changed.'),
});

export const presentTemplate = (template: Template) => ({
  ...presentListedTemplate(template),
  document: template.document,
});

/** In a list, without the document. */
export const presentListedTemplate = (template: Template) => ({
  id: template.id,
  name: template.name,
  description: template.description,
  subject: template.subject,
  body: template.body,
  editor: contentEditorOf(template),
  from: template.fromEmail,
  fromName: template.fromName,
  replyTo: template.replyTo,
  type: template.type,
  topicId: template.topicId,
  projectId: template.projectId,
  createdAt: template.createdAt.toISOString(),
  updatedAt: template.updatedAt.toISOString(),
});

const usingCampaign = object({
  id: uuid().description('Campaign ID.'),
  name: text().description('Campaign name.'),
  status: text().description('Campaign status.').example('DRAFT'),
});

const usingStep = object({
  workflowId: uuid().description('Workflow ID.'),
  workflowName: text().description('Workflow name.'),
  stepId: uuid().description('Step ID.'),
  stepName: text().description('Step name.'),
});

const usingConfirmation = object({
  type: oneOf('FORM', 'TOPIC').description('What sends the template as its confirmation email.'),
  id: uuid().description('Form or topic ID.'),
  name: text().description('Name of the form or topic.'),
});

export const templateUsageSchema = namedType('TemplateUsage', 'Where a template is used.', {
  campaigns: list(usingCampaign).description('Campaigns that are based on the template.'),
  workflowSteps: list(usingStep).description('Workflow steps that send the template.'),
  confirmations: optional(list(usingConfirmation)).description(
    'Forms and topics whose confirmation email it is; left out if there are none.',
  ),
  canDelete: flag().description('Whether the template can be deleted: no workflow step, form or topic uses it.'),
});

const versionShape = {
  version: wholeNumber({ min: 1 }).description('Version number, from 1.'),
  savedAt: dateTime().description('When the version was saved.'),
  savedBy: nullable(text()).description(
    'Email address of the user who saved it; `SYSTEM` if a change of the brand or of a saved block was applied; null if it was saved with a key or the user no longer exists.',
  ),
  subject,
};

export const versionSchema = namedType(
  'TemplateVersionSummary',
  'A saved version of a template, without its body.',
  versionShape,
);

export const presentVersion = ({ version, savedAt, savedBy, subject }: ListedTemplateVersion) => ({
  version,
  savedAt: savedAt.toISOString(),
  savedBy,
  subject,
});

export const wholeVersionSchema = namedType('TemplateVersion', 'A saved version of a template.', {
  ...versionShape,
  ...shownShape,
});

export const presentWholeVersion = (version: TemplateVersion) => ({
  ...presentVersion(version),
  name: version.name,
  description: version.description,
  body: version.body,
  document: version.document,
  editor: contentEditorOf(version),
  from: version.fromEmail,
  fromName: version.fromName,
  replyTo: version.replyTo,
  type: version.type,
});

const faultSchema = object({
  field: oneOf('subject', 'body').description('Part of the draft.'),
  line: wholeNumber({ min: 1 }).description('Line, from 1.'),
  column: wholeNumber({ min: 1 }).description('Column, from 1.'),
  message: text().description('What is wrong.'),
});

export const templateDraftSchema = namedType('TemplateDraft', 'Changes to a template that are not published yet.', {
  document: documentAnswer(),
  body: text({ min: 0 }).description('HTML body, with variables.'),
  subject: text({ min: 0 }).description('Subject, with variables.'),
  revision: wholeNumber({ min: 0 }).description(
    'Rises with every change to the draft or the template. Send it as `expectedRevision`.',
  ),
  changed: flag().description('Whether there is a draft; if not, subject and content are those of the template.'),
  faults: list(faultSchema).description('What keeps the draft from being published.'),
  updatedAt: dateTime().description('When the draft was last saved; without a draft, when the template last changed.'),
  updatedBy: nullable(text()).description(
    'Email address of the user who last saved the draft; null if a key did, the user was deleted, or there is no draft.',
  ),
});
