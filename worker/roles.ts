export const workerRoles = ['workflows', 'mail', 'bulk', 'relay'] as const;
export type WorkerRole = (typeof workerRoles)[number];

/** The command line names no valid roles. */
export class RolesError extends Error {}

/** Parses `--roles mail,relay`. Without the option a process has all roles. */
export function parseRoles(args: string[]): Set<WorkerRole> {
  const [flag, list, ...rest] = args.flatMap((arg) => (arg.startsWith('--roles=') ? arg.split('=', 2) : [arg]));
  if (flag === undefined) return new Set(workerRoles);
  if (flag !== '--roles' || !list || rest.length > 0)
    throw new RolesError(`usage: worker/main [--roles ${workerRoles.join(',')}]`);
  return new Set(list.split(',').map((name) => roleOf(name.trim())));
}

function roleOf(name: string): WorkerRole {
  const role = workerRoles.find((known) => known === name);
  if (!role) throw new RolesError(`There is no role "${name}". The roles are ${workerRoles.join(', ')}.`);
  return role;
}
