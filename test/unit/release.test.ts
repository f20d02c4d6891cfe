import { expect } from 'chai';
import { isSemver, notesOf, type ReleaseState, releaseProblems } from '../../dev/release/checks.ts';
import { manifestOf } from '../../dev/release/everpost-package.ts';
import { namedVersions } from '../../dev/release/state.ts';

const CHANGELOG = `# Changelog

What changes.

## 0.2.0 (2026-12-01)

- One thing.

## 0.1.0 (2026-11-19)

- The first one.
`;

const state = (changes: Partial<ReleaseState> = {}): ReleaseState => ({
  version: '0.2.0',
  versions: { 'package.json': '0.2.0', 'client/package.json': '0.2.0' },
  tags: ['v0.1.0'],
  changelog: CHANGELOG,
  changes: [],
  ...changes,
});

describe('checks of a release', () => {
  it('accept the newest version of the changelog without a tag', () => {
    expect(releaseProblems(state())).to.deep.equal([]);
  });

  for (const version of ['', '1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+build', 'latest', '1.2.3 '])
    it(`refuse "${version}", which is no version`, () => {
      expect(releaseProblems(state({ version })))
        .to.have.lengthOf(1)
        .and.to.have.property('0')
        .that.contains('semver');
    });

  it('accept versions with a prerelease', () => {
    for (const version of ['1.2.3-beta', '1.2.3-beta.1', '1.2.3-0', '0.0.0', '10.20.30-x-y.7'])
      expect(isSemver(version), version).to.equal(true);
  });

  it('refuse a tag that exists', () => {
    expect(releaseProblems(state({ tags: ['v0.1.0', 'v0.2.0'] }))).to.deep.equal([
      'The tag v0.2.0 exists already: choose the next version.',
    ]);
  });

  it('refuse a version that the changelog has below another one, or that it lacks', () => {
    const versions = { 'package.json': '0.1.0' };
    expect(releaseProblems(state({ version: '0.1.0', versions, tags: [] }))).to.deep.equal([
      'CHANGELOG.md has 0.2.0 above 0.1.0: 0.1.0 exists already.',
    ]);
    const lacks = ['CHANGELOG.md has no entries of 0.2.0: write them under "## 0.2.0".'];
    expect(releaseProblems(state({ changelog: CHANGELOG.replace('## 0.2.0', '## 0.3.0') }))).to.deep.equal(lacks);
    expect(releaseProblems(state({ changelog: '## 0.2.0\n\n## 0.1.0\n\n- x\n' }))).to.deep.equal(lacks);
  });

  it('refuse entries that belong to no version yet', () => {
    const changelog = CHANGELOG.replace('## 0.2.0', '## Unreleased\n\n- More.\n\n## 0.2.0');
    expect(releaseProblems(state({ changelog }))).to.deep.equal([
      'CHANGELOG.md has entries under "Unreleased": move them to 0.2.0.',
    ]);
    expect(releaseProblems(state({ changelog: changelog.replace('- More.', '') }))).to.deep.equal([]);
  });

  it('refuse versions that differ between the files, and name each', () => {
    const versions = { 'package.json': '0.2.0', 'client/package.json': '0.1.0', 'Chart.yaml': undefined };
    expect(releaseProblems(state({ versions }))).to.deep.equal([
      'client/package.json has version 0.1.0: set 0.2.0 in every file.',
      'Chart.yaml has version unknown: set 0.2.0 in every file.',
    ]);
  });

  it('refuse a changed working tree, and name some of the files', () => {
    const changes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(releaseProblems(state({ changes }))).to.deep.equal([
      'The working tree has changes: commit them first (a, b, c, d, e and 2 more).',
    ]);
  });

  it('report all problems at once', () => {
    const everything = state({ tags: ['v0.2.0'], changes: ['a'], versions: { 'package.json': '0.1.0' } });
    expect(releaseProblems(everything)).to.have.lengthOf(3);
  });
});

describe('a release', () => {
  it('has the entries of its version as notes', () => {
    expect(notesOf(CHANGELOG, '0.2.0')).to.equal('- One thing.');
    expect(notesOf(CHANGELOG, '0.1.0')).to.equal('- The first one.');
    expect(notesOf(CHANGELOG, '0.3.0')).to.equal(undefined);
  });

  it('has one version in every file of the repository', () => {
    expect(new Set(Object.values(namedVersions())).size).to.equal(1);
  });

  it('contains a package that needs nothing of development, and the tested versions of the rest', () => {
    const own = { name: 'everpost', version: '1.0.0', private: true, scripts: {}, dependencies: { a: '^1.0.0' } };
    const lock = { packages: { 'node_modules/a': { version: '1.2.3' }, 'node_modules/b': { version: '1.0.0' } } };
    const manifest = manifestOf({ ...own, devDependencies: { b: '1.0.0' } }, lock);
    expect(manifest).to.have.keys('name', 'version', 'dependencies', 'bin', 'files');
    expect(manifest.dependencies).to.deep.equal({ a: '1.2.3' });
  });
});
