import type { Template } from '../../db/models/template.ts';
import { templateTypes } from '../../services/templates/save.ts';
import type { TemplateVersion } from '../../services/templates/versions.ts';
import {
  dateTime,
  email,
  flag,
  list,
  namedType,
  nullable,
  object,
  oneOf,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';

const subject = text().description('Subject, with variables.');

const contentShape = {
  name: text().description('Template name.'),
  description: nullable(text({ min: 0 })).description('Internal description; null if there is none.'),
  subject,
  body: text().description('HTML body, with variables.'),
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
  ...contentShape,
  projectId: uuid().description('Project ID.'),
  createdAt: dateTime().description('When the template was created.'),
  updatedAt: dateTime().description('When the template last changed.'),
});

export const presentTemplate = (template: Template) => ({
  id: template.id,
  name: template.name,
  description: template.description,
  subject: template.subject,
  body: template.body,
  from: template.fromEmail,
  fromName: template.fromName,
  replyTo: template.replyTo,
  type: template.type,
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

export const templateUsageSchema = namedType('TemplateUsage', 'Where a template is used.', {
  campaigns: list(usingCampaign).description('Campaigns that are based on the template.'),
  workflowSteps: list(usingStep).description('Workflow steps that send the template.'),
  canDelete: flag().description('Whether the template can be deleted: no workflow step uses it.'),
});

const versionShape = {
  version: wholeNumber({ min: 1 }).description('Version number, from 1.'),
  savedAt: dateTime().description('When the version was saved.'),
  savedBy: nullable(text()).description(
    'Email address of the user who saved it; null if it was saved with a key or the user no longer exists.',
  ),
  subject,
};

export const versionSchema = namedType(
  'TemplateVersionSummary',
  'A saved version of a template, without its body.',
  versionShape,
);

export const presentVersion = ({ version, savedAt, savedBy, subject }: TemplateVersion) => ({
  version,
  savedAt: savedAt.toISOString(),
  savedBy,
  subject,
});

export const wholeVersionSchema = namedType('TemplateVersion', 'A saved version of a template.', {
  ...versionShape,
  ...contentShape,
});

export const presentWholeVersion = (version: TemplateVersion) => ({
  ...presentVersion(version),
  name: version.name,
  description: version.description,
  body: version.body,
  from: version.fromEmail,
  fromName: version.fromName,
  replyTo: version.replyTo,
  type: version.type,
});
