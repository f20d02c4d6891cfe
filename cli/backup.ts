import { existsSync } from 'node:fs';
import { sourceExtension } from '../platform/process-flags.ts';
import { readSettings } from '../platform/settings.ts';
import type { CommandResult } from './output.ts';

/** Says which version a backup belongs to. */
export interface BackupManifest {
  product: string;
  format: number;
  version: string;
  /** Those that the version knows. */
  migrations: string[];
  /** Major version of the data directory. */
  postgres: string;
  createdAt: string;
}

/** Implemented beside `npm start`, whose data they copy: the image has neither. */
export interface BackupCommands {
  backup(home: string, file: string): Promise<{ manifest: BackupManifest; names: string[] }>;
  restore(
    home: string,
    file: string,
    options: { replace: boolean },
  ): Promise<{ manifest: BackupManifest; names: string[]; aside: string | undefined }>;
}

const source = new URL(`../dev/stack/backup${sourceExtension}`, import.meta.url);

async function loadCommands(): Promise<BackupCommands> {
  if (!existsSync(source))
    throw new Error(
      'This command copies the data of `everpost start`, which this build does not have. In production, back up Postgres and ' +
        "Temporal's database with their own tools; docs/reliability.md says what happens when they differ.",
    );
  const { backupCommands } = (await import(source.href)) as { backupCommands: BackupCommands };
  return backupCommands;
}

export async function backup(file: string): Promise<CommandResult> {
  const { home } = readSettings();
  const { manifest, names } = await (await loadCommands()).backup(home, file);
  return {
    lines: [`Saved ${names.join(', ')} of ${home} in ${file} (version ${manifest.version}).`],
    json: { file, ...manifest },
  };
}

export async function restore(file: string, { replace = false }: { replace?: boolean }): Promise<CommandResult> {
  const { home } = readSettings();
  const { manifest, names, aside } = await (await loadCommands()).restore(home, file, { replace });
  const lines = [`Restored ${names.join(', ')} in ${home}, as of ${manifest.createdAt}. Run npm start.`];
  if (aside) lines.push(`What was there before is in ${aside}; delete it when you no longer need it.`);
  return { lines, json: { file, aside: aside ?? null, ...manifest } };
}
