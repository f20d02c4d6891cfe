// `npm run api-types`: writes the types of the API for the web application, from our own OpenAPI document.
// `npm run api-types -- --check` fails when the committed file differs; CI runs it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AppParts } from '../api/http/context.ts';
import { openApiOf } from '../api/http/openapi.ts';
import { routeGroups } from '../api/routes/index.ts';
import { readSettings } from '../platform/settings.ts';
import { runCommand } from './run.ts';

const root = resolve(import.meta.dirname, '..');
const tool = join(root, 'dev/openapi-types');
const target = join(root, 'web/app/src/api/schema.ts');

async function generate(): Promise<string> {
  if (!existsSync(join(tool, 'node_modules/openapi-typescript')))
    await runCommand('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tool });
  const folder = mkdtempSync(join(tmpdir(), 'everpost-types-'));
  try {
    const [input, output] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')];
    writeFileSync(input, JSON.stringify(document()));
    const cli = join(tool, 'node_modules/openapi-typescript/bin/cli.js');
    await runCommand(
      process.execPath,
      [cli, input, '--output', output, '--default-non-nullable=false', '--empty-objects-unknown'],
      { cwd: tool },
    );
    return readFileSync(output, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Operation {
  responses: Record<string, { description: string; content?: object }>;
}

/**
 * Builds the document from the declarations; no handler runs. Leaves out what the application treats alike for all
 * routes (errors, headers) and routes that it cannot call, which makes the file a fifth of its size.
 */
function document(): object {
  const parts = { metrics: { registry: {} }, settings: readSettings({}) } as unknown as AppParts;
  const whole = openApiOf(routeGroups(parts, () => ({ openapi: '', paths: {} })));
  const paths = Object.entries(whole.paths)
    .filter(([path]) => !path.startsWith('/v1/') && !path.startsWith('/webhooks/'))
    .map(([path, operations]) => [path, mapValues(operations as Record<string, Operation>, withoutErrors)] as const);
  return { ...whole, paths: Object.fromEntries(paths) };
}

function withoutErrors(operation: Operation): object {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const responses = good.map(([status, { description, content }]) => [status, { description, content }]);
  const error = { description: 'An error.', content: { 'application/json': { schema: ERROR } } };
  return { ...operation, responses: { ...Object.fromEntries(responses), default: error } };
}

const ERROR = { $ref: '#/components/schemas/Error' };

const mapValues = <V, W>(record: Record<string, V>, map: (value: V) => W): Record<string, W> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

const generated = await generate();
if (!process.argv.includes('--check')) writeFileSync(target, generated);
else if (!existsSync(target) || readFileSync(target, 'utf8') !== generated) {
  console.error('web/app/src/api/schema.ts is out of date: run "npm run api-types" and commit it.');
  process.exitCode = 1;
}
