import type { Role } from '../../db/models/membership.ts';
import type { ProjectRow } from '../../db/models/project.ts';
import type { ProjectKeys } from '../../services/access/keys.ts';
import { roles } from '../../services/access/membership.ts';
import { trackings } from '../../services/projects/update.ts';
import { dateTime, flag, list, namedType, nullable, oneOf, text, uuid } from '../http/schemas.ts';

const fields = {
  id: uuid().description('Project ID.'),
  name: text().description('Project name.').example('Acme'),
  publicKey: text().description('Public key (`pk_...`).'),
  role: oneOf(...roles).description('Role of the user in the project.'),
  tracking: oneOf(...trackings).description(
    'Which emails track opens and clicks: all, none, or only those of type MARKETING.',
  ),
  language: text().description(
    'Language of unsubscribe footers and hosted pages, as a language tag. Contacts can have their own in `data.locale`.',
  ),
  timezone: text().description(
    'IANA time zone of workflow steps that depend on the time of day. Contacts can have their own in `data.timezone`.',
  ),
  publicKeyPolicy: namedType('PublicKeyPolicy', 'What the public key may be used for.', {
    origins: list(text())
      .description('Origins of web pages that may use the public key. If empty, all may.')
      .example(['https://www.example.com']),
    events: list(text())
      .description('Events that may be tracked with the public key. If empty, all may.')
      .example(['signed_up']),
  }).description('What the public key may be used for.'),
  disabled: flag().description(
    'Whether the project is disabled. A disabled project is read-only, and its emails wait.',
  ),
  disabledReason: nullable(text()).description('Why the project is disabled; null if it is not.'),
  requireTwoFactor: flag().description('Whether members need two-factor authentication.'),
  logRequests: flag().description('Whether the request log has successful requests of keys too.'),
  topicRequired: flag().description('Whether MARKETING and HEADLESS email needs a topic.'),
  createdAt: dateTime().description('When the project was created.'),
  updatedAt: dateTime().description('When the project last changed.'),
};

export const projectSchema = namedType('Project', 'A project, as its members see it.', fields);

export const projectWithKeysSchema = namedType('ProjectWithKeys', 'A project with its new keys.', {
  ...fields,
  secretKey: text().description('Secret key (`sk_...`). It cannot be retrieved again.'),
});

export const presentProject = (project: ProjectRow, role: Role) => ({
  id: project.id,
  name: project.name,
  publicKey: project.publicKey,
  role,
  tracking: project.tracking,
  language: project.language,
  timezone: project.timezone,
  publicKeyPolicy: { origins: project.publicKeyOrigins, events: project.publicKeyEvents },
  disabled: project.disabled,
  disabledReason: project.disabledReason,
  requireTwoFactor: project.requireTwoFactor,
  logRequests: project.logRequests,
  topicRequired: project.topicRequired,
  createdAt: project.createdAt.toISOString(),
  updatedAt: project.updatedAt.toISOString(),
});

export const presentProjectWithKeys = (project: ProjectRow, role: Role, { publicKey, secretKey }: ProjectKeys) => ({
  ...presentProject(project, role),
  publicKey,
  secretKey,
});
