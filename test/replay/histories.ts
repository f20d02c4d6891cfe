// Golden histories by the version that recorded them: `test/replay/histories/<version>/<workflow type>-<n>.json`.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../dev/root.ts';

const folder = join(root, 'test/replay/histories');

/** The version that is being developed; new histories are recorded for it. */
export const currentVersion: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

export const historyFolder = (version: string = currentVersion): string => join(folder, version);

export const recordedVersions = (): string[] => readdirSync(folder).sort();

export const historyNames = (version: string): string[] => readdirSync(historyFolder(version)).sort();

export const readHistory = (name: string, version: string = currentVersion): string =>
  readFileSync(join(historyFolder(version), name), 'utf8');

/** Versions with a tag such as `v1.2.0`. None outside of a clone. */
export function taggedVersions(): string[] {
  try {
    const tags = execFileSync('git', ['tag', '--list', 'v*'], { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return versionsOfTags(tags.split('\n'));
  } catch {
    return [];
  }
}

/** Other tags that begin with a v are no versions. */
export const versionsOfTags = (tags: string[]): string[] =>
  tags.flatMap((tag) => /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(tag.trim())?.[1] ?? []);

/** Returns the versions that must have a folder and have none. */
export const withoutHistories = (wanted: string[], recorded: string[]): string[] =>
  [...new Set(wanted)].filter((version) => !recorded.includes(version));
