import { ApiError } from '../../platform/errors.ts';

/** The error for adding or verifying a name that another project has verified. */
export const nameTaken = (name: string) =>
  new ApiError(409, 'CONFLICT', `The domain ${name} is verified by another project.`, {
    suggestion: 'A verified domain belongs to one project; delete it there first, or use a subdomain.',
  });
