export const roles = ['workflows', 'mail', 'bulk', 'relay'] as const;
export type Role = (typeof roles)[number];

/** Parses `--roles mail,relay`. Without the option a process has all roles. */
export function parseRoles(args: string[]): Set<Role> {
  const [flag, list, ...rest] = args.flatMap((arg) => (arg.startsWith('--roles=') ? arg.split('=', 2) : [arg]));
  if (flag === undefined) return new Set(roles);
  if (flag !== '--roles' || !list || rest.length > 0)
    throw new Error(`usage: worker/main [--roles ${roles.join(',')}]`);
  return new Set(list.split(',').map((name) => roleOf(name.trim())));
}

function roleOf(name: string): Role {
  const role = roles.find((known) => known === name);
  if (!role) throw new Error(`There is no role "${name}". The roles are ${roles.join(', ')}.`);
  return role;
}
