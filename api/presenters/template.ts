import type { Template } from '../../db/models/template.ts';
import { templateTypes } from '../../services/templates/save.ts';
import type { TemplateVersion } from '../../services/templates/versions.ts';
import { dateTime, email, flag, list, nullable, object, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';

export const templateSchema = object({
  id: uuid(),
  name: text(),
  description: nullable(text({ min: 0 })),
  subject: text(),
  body: text(),
  from: nullable(email()),
  fromName: nullable(text({ min: 0 })),
  replyTo: nullable(email()),
  type: oneOf(...templateTypes),
  projectId: uuid(),
  createdAt: dateTime(),
  updatedAt: dateTime(),
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

export const templateUsageSchema = object({
  campaigns: list(object({ id: uuid(), name: text(), status: text() })),
  workflowSteps: list(object({ workflowId: uuid(), workflowName: text(), stepId: uuid(), stepName: text() })),
  canDelete: flag(),
});

const versionShape = {
  version: wholeNumber({ min: 1 }),
  savedAt: dateTime(),
  /** The address of the user; null when it was saved with a key, or the user is gone. */
  savedBy: nullable(text()),
  subject: text(),
};

export const versionSchema = object(versionShape);

export const presentVersion = ({ version, savedAt, savedBy, subject }: TemplateVersion) => ({
  ...{ version, savedAt: savedAt.toISOString(), savedBy, subject },
});

export const wholeVersionSchema = object({
  ...versionShape,
  name: text(),
  description: nullable(text({ min: 0 })),
  body: text(),
  from: nullable(email()),
  fromName: nullable(text({ min: 0 })),
  replyTo: nullable(email()),
  type: oneOf(...templateTypes),
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
