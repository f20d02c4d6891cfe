import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import { root } from '../../dev/root.ts';

type Text = string | ((...given: unknown[]) => string);
type Catalogue = Map<string, Text>;

const source = resolve(root, 'web/app/src');

/** Texts that are the same in both languages. */
const SAME = new Set([
  'API',
  'Everpost',
  'ID',
  'Link',
  'Logo',
  'Links',
  'Message-ID',
  'Name',
  'Person',
  'Segment',
  'Standard',
  'Status',
  'Text',
  'TypeScript',
  'URL',
  'Webhooks',
  'Workflow',
  'Workflows',
  'curl',
  'Bluesky',
  'Discord',
  'Domain',
  'Domains',
  'Facebook',
  'GitHub',
  'Installation',
  'Instagram',
  'LinkedIn',
  'Live',
  'Mastodon',
  'Pinterest',
  'Reddit',
  'Telegram',
  'Threads',
  'TikTok',
  'WhatsApp',
  'X',
  'YouTube',
]);
/** Functions whose text is made of their values only. */
const VALUES_ONLY = new Set([
  'activity.upcomingStep',
  'canvas.inRow',
  'canvas.version',
  'imports.chosen',
  'contactLists.newSegmentName',
  'results.reasonCount',
  'results.segmentDefault',
  'segments.memberCount',
  'segments.trackEvents',
  'templates.size',
  'testMail.refused',
  'templates.version',
]);

/** Numbers and texts that a translation must contain wherever the original does. */
const NUMBERS = [1001, 2002, 3003];
const WORDS = ['⟦first⟧', '⟦second⟧', '⟦third⟧'];

const digits = (text: string): string => text.replace(/(\d)[.,\u202f\u00a0 ](?=\d{3})/g, '$1');
const valuesIn = (text: Text, given: unknown[]): unknown[] => {
  const result = typeof text === 'string' ? text : text(...given);
  return given.filter((value) => digits(result).includes(String(value)));
};
/** Names in `{{…}}`, which the renderer of mails reads, and elements of HTML. */
const codeIn = (text: string): string[] => [...text.matchAll(/\{\{\w*|<\/?\w+/g)].map(([found]) => found).sort();

function flatten(value: unknown, path = ''): [string, Text][] {
  if (typeof value === 'string' || typeof value === 'function') return [[path, value as Text]];
  return Object.entries(value as object).flatMap(([key, inner]) => flatten(inner, path ? `${path}.${key}` : key));
}

/** The texts are read as files: they belong to a program with the types of a browser. */
async function load(file: string, name: string): Promise<Record<string, unknown>> {
  const module = (await tsImport(join(source, 'texts', file), import.meta.url)) as Record<
    string,
    Record<string, unknown>
  >;
  return module[name] ?? {};
}

describe('the texts of the web application', () => {
  let english: Catalogue = new Map();
  let german: Catalogue = new Map();
  let topics: { frame: string[]; everyday: string[] } = { frame: [], everyday: [] };
  const browser = globalThis as { document?: unknown; navigator?: unknown };
  const hasNavigator = browser.navigator !== undefined;

  before(async () => {
    // Formats follow the language of the document.
    browser.document = { documentElement: { lang: 'en' } };
    // Node has one from 21 on.
    if (!hasNavigator) browser.navigator = { languages: ['en'] };
    const all = async (language: string) => ({
      ...(await load(`${language}/index.ts`, language)),
      ...(await load(`${language}/details.ts`, 'details')),
      workflows: await load(`${language}/workflows.ts`, 'workflows'),
      canvas: await load(`${language}/canvas.ts`, 'canvas'),
      playback: await load(`${language}/playback.ts`, 'playback'),
      editor: await load(`${language}/editor.ts`, 'editor'),
      brand: await load(`${language}/brand.ts`, 'brand'),
      topics: await load(`${language}/topics.ts`, 'topics'),
      forms: await load(`${language}/forms.ts`, 'forms'),
      hostedPages: await load(`${language}/forms.ts`, 'hostedPages'),
      savedBlocks: await load(`${language}/brand.ts`, 'savedBlocks'),
      palette: await load(`${language}/palette.ts`, 'palette'),
      audit: await load(`${language}/audit.ts`, 'audit'),
    });
    english = new Map(flatten(await all('en')));
    german = new Map(flatten(await all('de')));
    const frame = Object.keys(await load('en/common.ts', 'common'));
    topics = { frame, everyday: [...frame, ...Object.keys(await load('en/everyday.ts', 'everyday'))] };
  });
  after(() => {
    delete browser.document;
    if (!hasNavigator) delete browser.navigator;
  });

  it('has every text in German, and no other', () => {
    expect(english.size).to.be.greaterThan(500);
    // The API has the English ones.
    const keys = [...german.keys()].filter((key) => !key.startsWith('templates.warningTexts.'));
    expect(keys.sort()).to.deep.equal([...english.keys()].sort());
  });

  it('has no empty text', () => {
    for (const texts of [english, german])
      expect([...texts].filter(([, text]) => typeof text === 'string' && text.trim() === '')).to.deep.equal([]);
  });

  it('translates every text, unless it is the same in German', () => {
    const copied = [...english].filter(([path, text]) => {
      const other = german.get(path);
      if (typeof text === 'string') return text === other && !SAME.has(text);
      return typeof other === 'function' && !VALUES_ONLY.has(path) && text(...NUMBERS) === other(...NUMBERS);
    });
    expect(copied.map(([path]) => path)).to.deep.equal([]);
  });

  it('gives the same values to both languages', () => {
    for (const [path, text] of english) {
      const other = german.get(path) ?? '';
      for (const given of [NUMBERS, WORDS]) expect(valuesIn(other, given), path).to.have.members(valuesIn(text, given));
    }
  });

  it('keeps variables of mails and HTML', () => {
    for (const [path, text] of english)
      if (typeof text === 'string') expect(codeIn(german.get(path) as string), path).to.deep.equal(codeIn(text));
  });

  it('loads a text before anything that uses it', () => {
    const EVERYDAY = ['account', 'home', 'contacts', 'segments', 'templates', 'campaigns', 'emails', 'domains'];
    const misused = (folder: string, allowed: string[]): string[] =>
      filesOf(join(source, folder)).flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/(?<![\w.])t\.(\w+)/g)]
          .filter(([, topic = '']) => !allowed.includes(topic))
          .map(([use]) => `${file}: ${use}`),
      );
    // The palette loads its own texts.
    expect(misused('frame', [...topics.frame, 'palette'])).to.deep.equal([]);
    for (const folder of ['api', 'conditions', 'ui', ...EVERYDAY.map((page) => `pages/${page}`)])
      expect(misused(folder, topics.everyday)).to.deep.equal([]);
  });
});

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
