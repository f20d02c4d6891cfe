// What makes a release impossible. Nothing is written while one of these holds.

export interface ReleaseState {
  /** As it was asked for. */
  version: string;
  /** The version that each file names. */
  versions: Record<string, string | undefined>;
  /** All tags of the repository. */
  tags: string[];
  changelog: string;
  /** Changed and new files of the working tree, as `git status --porcelain` lists them. */
  changes: string[];
}

const NUMBER = '(?:0|[1-9]\\d*)';
const IDENTIFIER = `(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
/** https://semver.org, without build metadata, which npm drops. */
const SEMVER = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?$`);

export const isSemver = (version: string): boolean => SEMVER.test(version);

/** The first word of a heading is the version; a date may follow. */
const HEADING = /^## (\S+).*$/gm;

interface Section {
  name: string;
  text: string;
}

function sectionsOf(changelog: string): Section[] {
  const headings = [...changelog.matchAll(HEADING)];
  return headings.map(({ 0: heading, 1: name = '', index }, n) => ({
    name,
    text: changelog.slice(index + heading.length, headings[n + 1]?.index).trim(),
  }));
}

/** Returns the entries of a version; undefined without any. */
export const notesOf = (changelog: string, version: string): string | undefined =>
  sectionsOf(changelog).find(({ name, text }) => name === version && text !== '')?.text;

/** Returns what is wrong, in sentences that say what to do. */
export function releaseProblems({ version, versions, tags, changelog, changes }: ReleaseState): string[] {
  if (!isSemver(version)) return [`"${version}" is no version: use three numbers, such as 1.2.3 (https://semver.org).`];
  const problems = Object.entries(versions)
    .filter(([, named]) => named !== version)
    .map(([file, named]) => `${file} has version ${named ?? 'unknown'}: set ${version} in every file.`);
  if (tags.includes(`v${version}`)) problems.push(`The tag v${version} exists already: choose the next version.`);
  const [newest, ...older] = sectionsOf(changelog).filter(({ name, text }) => name !== 'Unreleased' || text !== '');
  if (older.some(({ name }) => name === version))
    problems.push(
      newest?.name === 'Unreleased'
        ? `CHANGELOG.md has entries under "Unreleased": move them to ${version}.`
        : `CHANGELOG.md has ${newest?.name} above ${version}: ${version} exists already.`,
    );
  else if (newest?.name !== version || newest.text === '')
    problems.push(`CHANGELOG.md has no entries of ${version}: write them under "## ${version}".`);
  if (changes.length > 0) problems.push(`The working tree has changes: commit them first (${shortened(changes)}).`);
  return problems;
}

const SHOWN = 5;
const shortened = (list: string[]): string =>
  list.length > SHOWN ? `${list.slice(0, SHOWN).join(', ')} and ${list.length - SHOWN} more` : list.join(', ');
