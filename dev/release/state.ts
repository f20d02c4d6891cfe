import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../root.ts';
import type { ReleaseState } from './checks.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const linesOf = (...args: string[]): string[] =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);

export const CHART = 'ops/helm/everpost';

/** The version that each file of the repository names. All are the same, whether released or not. */
export function namedVersions(): Record<string, string | undefined> {
  const lock = JSON.parse(read('package-lock.json'));
  const chart = parse(read(`${CHART}/Chart.yaml`)) as { version?: string; appVersion?: string };
  return {
    'package.json': JSON.parse(read('package.json')).version,
    'package-lock.json': lock.packages[''].version,
    'client/package.json': JSON.parse(read('client/package.json')).version,
    [`${CHART}/Chart.yaml (version)`]: chart.version,
    [`${CHART}/Chart.yaml (appVersion)`]: chart.appVersion,
  };
}

export const readChangelog = (): string => read('CHANGELOG.md');

export const readState = (version: string): ReleaseState => ({
  version,
  versions: namedVersions(),
  tags: linesOf('tag', '--list'),
  changelog: readChangelog(),
  changes: linesOf('status', '--porcelain').map((line) => line.slice(3)),
});

/** For building the present version again, whatever has happened since its release. Needs no repository. */
export const rehearsalState = (version: string): ReleaseState => ({
  version,
  versions: namedVersions(),
  tags: [],
  changelog: `## ${version}\n\nRehearsal.`,
  changes: [],
});
