// `npm run release -- 0.2.0 --dry-run`: checks that a version can be released, and builds what is published. Without a version
// it only builds, for CI. Nothing is published: CONTRIBUTING.md has the commands.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildRelease } from './release/build.ts';
import { notesOf, releaseProblems } from './release/checks.ts';
import { namedVersions, readChangelog, readState, rehearsalState } from './release/state.ts';
import { root } from './root.ts';

const USAGE = `usage: npm run release -- [<version>] --dry-run [--to <folder>]
Without --dry-run there is nothing yet: publishing is done by hand, see CONTRIBUTING.md.`;

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' }, to: { type: 'string' } },
  });
  const [asked, ...others] = positionals;
  if (!values['dry-run'] || others.length > 0) return refuse([USAGE]);
  const version = asked ?? namedVersions()['package.json'] ?? '';
  const problems = releaseProblems(asked === undefined ? rehearsalState(version) : readState(version));
  if (problems.length > 0) return refuse(problems);
  const target = resolve(values.to ?? join(root, 'dist/release', version));
  if (values.to && existsSync(target)) return refuse([`${target} exists already: name a new folder.`]);
  mkdirSync(dirname(target), { recursive: true });
  // Renamed into place: an existing folder is complete.
  const draft = mkdtempSync(`${target}.draft-`);
  try {
    const notes = notesOf(readChangelog(), version) ?? '';
    await buildRelease(draft, { version, notes }, (line) => console.log(line));
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  console.log(`Everpost ${version} is in ${target}. Nothing was published.`);
  return 0;
}

function refuse(problems: string[]): number {
  for (const problem of problems) console.error(problem);
  return 1;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
