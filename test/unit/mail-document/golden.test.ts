import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Parser } from 'htmlparser2';
import { root } from '../../../dev/root.ts';
import { gallery } from '../../../platform/mail-document/gallery/index.ts';
import { defaultBrandKit, parseDocument, renderDocument } from '../../../platform/mail-document/index.ts';
import { checkTemplate } from '../../../platform/templates/index.ts';
import { documentOf, goldenBlocks, parsed, savedBlocks } from './documents.ts';

const folder = join(root, 'test/unit/mail-document/golden');
const kit = { ...defaultBrandKit, address: 'Everpost\n1 Main Street' };

const files: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(goldenBlocks).map(([name, blocks]) => [
      `block-${name}.html`,
      renderDocument(parsed(documentOf(...blocks)), kit, savedBlocks),
    ]),
  ),
  ...Object.fromEntries(
    gallery.flatMap(({ id, documents }) =>
      (['en', 'de'] as const).map((lang) => [`gallery-${id}.${lang}.html`, renderDocument(documents[lang], kit)]),
    ),
  ),
};

// `UPDATE_GOLDEN=1 npm test -- test/unit/mail-document/golden.test.ts` writes them; look at the difference.
if (process.env.UPDATE_GOLDEN) {
  mkdirSync(folder, { recursive: true });
  for (const [name, html] of Object.entries(files)) writeFileSync(join(folder, name), html);
}

describe('golden HTML of documents', () => {
  for (const [name, html] of Object.entries(files))
    it(`${name} is as it was, byte for byte`, () => {
      expect(html).to.equal(readFileSync(join(folder, name), 'utf8'));
    });

  it('has a file for each block and each document of the gallery, and no other', () => {
    expect(readdirSync(folder).sort()).to.deep.equal(Object.keys(files).sort());
  });

  it('is the same when it is rendered twice', () => {
    for (const { documents } of gallery)
      expect(renderDocument(documents.en, kit)).to.equal(renderDocument(structuredClone(documents.en), kit));
  });
});

/** What Outlook (Word), Gmail or Yahoo drop or break. */
const badTags = new Set(['script', 'iframe', 'object', 'embed', 'form', 'input', 'video', 'svg', 'link', 'base']);
const badStyles: [RegExp, string][] = [
  [/(^|;)\s*display:\s*(flex|grid|inline-flex)/, 'flex and grid'],
  [/(^|;)\s*position:/, 'position'],
  [/(^|;)\s*float:/, 'float'],
  [/var\(/, 'variables'],
  [/calc\(/, 'calc'],
  [/[\d.](rem|vw|vh)\b/, 'rem, vw and vh'],
  [/\b(oklch|hsl|rgb)\(/, 'functions for colors'],
  [/(^|;)\s*min-height/, 'min-height'],
];

function brokenRules(html: string): string[] {
  const broken: string[] = [];
  const open: string[] = [];
  const parser = new Parser({
    onopentag(name, { style = '', ...attributes }) {
      if (badTags.has(name)) broken.push(`<${name}>`);
      for (const [pattern, what] of badStyles) if (pattern.test(style)) broken.push(what);
      if (name === 'img' && (attributes.alt === undefined || !attributes.width))
        broken.push('img without alt or width');
      if (name === 'table' && attributes.role !== 'presentation') broken.push('a table without role');
      for (const key of Object.keys(attributes)) if (/^on/.test(key)) broken.push(key);
      open.push(name);
    },
    onclosetag(name, implied) {
      if (open.pop() !== name || (implied && !['img', 'meta', 'br'].includes(name))) broken.push(`</${name}>`);
    },
  });
  parser.end(html);
  for (const [pattern, what] of badStyles)
    for (const [, css = ''] of html.matchAll(/<style>([\s\S]*?)<\/style>/g)) if (pattern.test(css)) broken.push(what);
  return broken;
}

describe('the HTML of documents', () => {
  for (const [name, html] of Object.entries(files))
    it(`${name} holds up in mail programs`, () => {
      expect(brokenRules(html)).to.deep.equal([]);
      expect(checkTemplate(html)).to.deep.equal([]);
      expect(html).to.match(/<!--\[if mso\]><table role="presentation"[^>]* width="600"/);
      expect(html)
        .to.contain('PixelsPerInch')
        .and.contain('name="viewport"')
        .and.match(/<html lang="(en|de)"/);
      for (const meta of ['color-scheme', 'supported-color-schemes'])
        expect(html).to.contain(`<meta name="${meta}" content="light dark">`);
      expect(html).to.contain('prefers-color-scheme:dark').and.contain('[data-ogsc]');
    });

  it('has about 6 kB for a newsletter', () => {
    expect(Buffer.byteLength(files['gallery-newsletter.en.html'] ?? '')).to.be.below(8 * 1024);
  });
});

describe('the gallery', () => {
  it('has complete documents, which stay as they are when they are written', () => {
    for (const { documents } of gallery)
      for (const document of Object.values(documents))
        expect(parseDocument(document)).to.deep.equal({ document, warnings: [] });
  });
});
