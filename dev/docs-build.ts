// `npm run docs:build`: writes the documentation as files that any web server can serve.
//   npm run docs:build -- --base /everpost/ --out dist/docs
import { existsSync, readdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeStaticDocs } from './docs-site.ts';
import { compiledProgram } from './program.ts';
import { root } from './root.ts';

const BASE = /^\/([\w.~-]+\/)*$/;

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { base: { type: 'string', default: '/' }, out: { type: 'string', default: 'dist/docs' } },
  });
  if (!BASE.test(values.base))
    throw new Error(`--base must begin and end with a slash, such as /everpost/: ${values.base}`);
  const target = resolve(root, values.out);
  // It is emptied before.
  if (existsSync(target) && readdirSync(target).length > 0 && !existsSync(resolve(target, 'hashmap.json')))
    throw new Error(`${target} has other files. Choose an empty folder with --out.`);
  await writeStaticDocs(await compiledProgram(console.log), { target, base: values.base });
  console.log(`built ${relative(process.cwd(), target) || '.'}: serve it at ${values.base}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
