import type { Role } from '../../db/models/membership.ts';
import type { Project } from '../../db/models/project.ts';
import type { ProjectKeys } from '../../services/access/keys.ts';
import { roles } from '../../services/access/membership.ts';
import { trackings } from '../../services/projects/update.ts';
import { dateTime, flag, list, nullable, object, oneOf, text, uuid } from '../http/schemas.ts';

const fields = {
  id: uuid(),
  name: text(),
  publicKey: text(),
  role: oneOf(...roles),
  tracking: oneOf(...trackings),
  language: text(),
  timezone: text(),
  /** Everything is allowed where a list is empty. */
  publicKeyPolicy: object({ origins: list(text()), events: list(text()) }),
  disabled: flag(),
  disabledReason: nullable(text()),
  requireTwoFactor: flag(),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};

export const projectSchema = object(fields);
/** The response of routes that generate keys. */
export const projectWithKeysSchema = object({ ...fields, secretKey: text() });

export const presentProject = (project: Project, role: Role) => ({
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
  createdAt: project.createdAt.toISOString(),
  updatedAt: project.updatedAt.toISOString(),
});

export const presentProjectWithKeys = (project: Project, role: Role, { publicKey, secretKey }: ProjectKeys) => ({
  ...presentProject(project, role),
  publicKey,
  secretKey,
});
