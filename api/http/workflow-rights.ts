import type { Role } from '../../db/models/membership.ts';
import type { ProjectAccess } from '../../services/access/keys.ts';
import { hasRole } from '../../services/access/membership.ts';
import { hasScope } from '../../services/access/scopes.ts';

/** Whether the caller may change workflows, and so see the headers of webhooks. Keys have no role. */
export const mayWriteWorkflows = ({ project, role }: { project: ProjectAccess; role: Role | undefined }): boolean =>
  role === undefined ? hasScope(project, 'workflows:write') : hasRole(role, 'MEMBER');
