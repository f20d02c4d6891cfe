import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { writeApiTypes } from '../../dev/api-types.ts';
import { root } from '../../dev/root.ts';
import { runDirectory } from '../support/cleanup.ts';
import {
  codeBlocks,
  type DocumentedStack,
  pagesWithShellBlocks,
  startDocumentedStack,
} from '../support/documentation.ts';

/** The path of a newcomer, in this order. All pages, each on a stack of its own, are in `documentation.slow.ts`. */
const FIRST_PAGES = [
  'README.md',
  'docs/guides/first-mail.md',
  'docs/guides/track-and-automate.md',
  'docs/guides/campaigns.md',
];

describe('the shell blocks of the documentation', () => {
  let stack: DocumentedStack | undefined;

  before(async () => {
    stack = await startDocumentedStack();
  });
  after(() => stack?.stop());

  it('are found in the README and in most guides', () => {
    expect(pagesWithShellBlocks()).to.include.members(FIRST_PAGES);
    expect(pagesWithShellBlocks()).to.have.length.greaterThan(15);
  });

  for (const page of FIRST_PAGES)
    it(`of ${page} succeed in the order in which they are written`, () => stack?.run(page));
});

describe('the TypeScript blocks of the documentation', () => {
  it('compile against the client', () => {
    // A fresh checkout has no types of the API.
    writeApiTypes();
    const folder = join(runDirectory(), 'documented-client');
    mkdirSync(join(folder, 'node_modules/@everpost'), { recursive: true });
    symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    const blocks = codeBlocks('docs/client.md', 'ts');
    expect(blocks).to.have.length.greaterThan(2);
    // One program, because later blocks use what earlier ones declare.
    writeFileSync(join(folder, 'page.ts'), blocks.map(({ text }) => text).join('\n'));
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'nodenext',
      types: ['node'],
      skipLibCheck: true,
      exactOptionalPropertyTypes: true,
      lib: ['es2022', 'dom', 'dom.iterable'],
      allowImportingTsExtensions: true,
      paths: { '@everpost/client': [join(root, 'client/src/index.ts')] },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['page.ts'] }));
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    try {
      execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    } catch (error) {
      throw new Error((error as { stdout?: string }).stdout || String(error));
    }
  });
});
