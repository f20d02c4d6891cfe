import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { diagrams } from '../../dev/diagrams/diagrams.ts';
import { draw } from '../../dev/diagrams/draw.ts';
import { root } from '../../dev/root.ts';
import { pageFiles, sections } from '../../docs/.vitepress/pages.ts';

const docs = join(root, 'docs');
const read = (file: string): string => readFileSync(file, 'utf8');
const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.includes('node_modules/'))
    .map((name) => join(folder, name));
const markdownIn = (folder: string): string[] => filesIn(folder, /\.md$/);

/** The pages of the repository, without the API reference, which a build of the site writes. */
const pages = [
  ...markdownIn(docs).filter((file) => !file.startsWith(join(docs, 'api/'))),
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].map((name) => join(root, name)),
];

/** Ten minutes for somebody who reads 230 words a minute. */
const MOST_WORDS = 2_300;

const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchors that GitHub and VitePress give to headings. */
const anchorsOf = (text: string): string[] =>
  [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[`*]/g, '')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

const FOLDERS =
  'activities|api|bench|cli|client|db|dev|docs|ops|platform|proof|services|temporal|test|web|worker|workflows';
/** Does not match patterns such as `api/routes/<resource>.ts`. */
const REPOSITORY_PATH = new RegExp(`^(${FOLDERS})/[\\w./-]*$`);

/** The paths of the repository that a page names in inline code or links. */
const citedPaths = (file: string): string[] => {
  const text = read(file).replace(/^```[\s\S]*?^```/gm, '');
  const inCode = [...text.matchAll(/`([^`\n]+)`/g)].map(([, path = '']) => path);
  const inLinks = [...withoutCode(text).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .filter(([, href = '']) => !/^[a-z]+:/.test(href))
    .map(([, href = '']) => relative(root, resolve(dirname(file), href)));
  return [...inCode, ...inLinks].filter((path) => REPOSITORY_PATH.test(path));
};

describe('the documentation', () => {
  it('has every guide in the menu of the site, and no design decision', () => {
    const guides = markdownIn(join(docs, 'guides')).map((file) => relative(docs, file).replace(/\.md$/, ''));
    expect(pageFiles).to.include.members(guides);
    expect(pageFiles.filter((file) => file.startsWith('decisions'))).to.deep.equal([]);
    for (const file of pageFiles) expect(existsSync(join(docs, `${file}.md`)), file).to.equal(true);
  });

  it('has no page on the site that takes longer than ten minutes', () => {
    const references = sections.flatMap(({ pages }) =>
      pages.flatMap(({ file, isReference }) => (isReference ? file : [])),
    );
    const words = pageFiles
      .filter((file) => !references.includes(file))
      .map((file) => [file, read(join(docs, `${file}.md`)).split(/\s+/).length] as const);
    expect(words.filter(([, count]) => count > MOST_WORDS)).to.deep.equal([]);
  });

  it('has only links that lead somewhere', () => {
    const dead = pages.flatMap((file) =>
      [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, href = '']) => {
        if (/^[a-z]+:/.test(href)) return [];
        const [path = '', anchor] = href.split('#');
        const target = path === '' ? file : resolve(dirname(file), path);
        const found =
          existsSync(target) && (!anchor || !target.endsWith('.md') || anchorsOf(read(target)).includes(anchor));
        return found ? [] : [`${relative(root, file)}: ${href}`];
      }),
    );
    expect(dead).to.deep.equal([]);
  });

  it('names a source for every fact about another tool, and each source once', () => {
    const text = read(join(docs, 'guides/comparison.md'));
    const [facts = '', sources = ''] = text.split('## Sources');
    const cited = new Set([...facts.matchAll(/\[(\d+)\](?!\()/g)].map(([, number]) => number));
    const listed = [...sources.matchAll(/^(\d+)\. .*\]\(https:\/\/\S+\)/gm)].map(([, number]) => number);
    expect([...cited].sort()).to.deep.equal([...listed].sort());
  });

  it('has a README of at most 150 lines whose first 20 say what it is, for whom and why', () => {
    const lines = read(join(root, 'README.md')).split('\n');
    expect(lines.length).to.be.at.most(151);
    const first = lines.slice(0, 20).join('\n');
    expect(first)
      .to.match(/Status: .*MIT/)
      .and.match(/open email platform/)
      .and.match(/For you, if/)
      .and.match(/Why not/);
    expect(first)
      .to.contain('npm start')
      .and.match(/!\[.+\]\(docs\/img\/home\.webp\)/);
  });

  it('has no mark of a merge conflict', () => {
    expect(pages.filter((file) => /^(<{7}|>{7}) /m.test(read(file))).map((file) => relative(root, file))).to.deep.equal(
      [],
    );
  });

  it('cites only files that exist', () => {
    const gone = pages.flatMap((file) =>
      citedPaths(file)
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${relative(root, file)}: ${path}`),
    );
    expect(gone).to.deep.equal([]);
  });

  it('has every page that a comment of the code cites', () => {
    const gone = FOLDERS.split('|')
      .flatMap((folder) => filesIn(join(root, folder), /\.(ts|tsx|mjs|sql|sh|ya?ml)$/))
      // A migration never changes once it has landed.
      .filter((file) => !file.startsWith(join(root, 'db/migrations')))
      .flatMap((file) =>
        [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
          .filter(([path]) => !existsSync(join(root, path)))
          .map(([path]) => `${relative(root, file)}: ${path}`),
      );
    expect(gone).to.deep.equal([]);
  });

  it('names decisions by their subject', () => {
    const names = readdirSync(join(docs, 'decisions'));
    expect(names.filter((name) => !/^[a-z][a-z0-9-]*\.md$/.test(name))).to.deep.equal([]);
  });

  it('has a picture with a text in every guide', () => {
    for (const file of markdownIn(join(docs, 'guides')))
      expect(read(file), relative(root, file)).to.match(/!\[[^\]]{8,}\]\(\.\.\/img\/[\w-]+\.(svg|webp)\)/);
  });

  it('has diagrams as they are drawn by npm run diagrams, each described for a screen reader', () => {
    for (const [name, diagram] of Object.entries(diagrams)) {
      expect(read(join(docs, 'img', `${name}.svg`)), name).to.equal(draw(name, diagram));
      expect(diagram.description.length, name).to.be.greaterThan(diagram.title.length);
    }
  });
});
