// `npm run api-types`: writes the types of the API for the web application and for the client package, from our own
// OpenAPI document. `npm run api-types -- --check` fails when a committed file differs; CI runs it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiOf } from '../api/http/openapi.ts';
import { declaredRoutes } from '../api/routes/index.ts';
import { root } from './root.ts';
import { runCommand } from './run.ts';

const tool = join(root, 'dev/openapi-types');

interface Target {
  file: string;
  /** Whether fields have comments. */
  described: boolean;
  /** Whether its caller has no session. */
  keysOnly: boolean;
  /** Decides which paths its caller can use, by their operations. */
  includes(path: string, operations: Operation[]): boolean;
}

const KEYS = ['publicKey', 'secretKey', 'memberOrKey'];
const takesKey = (operation: Operation): boolean => KEYS.includes(operation['x-access']);

const targets: Target[] = [
  // The web application has the types of the client too, and of its own only paths that the client lacks, in whole or in
  // part (`web/app/src/api/schema.ts`).
  {
    file: 'web/app/src/api/session-schema.ts',
    described: false,
    keysOnly: false,
    includes: (path, operations) => !path.startsWith('/webhooks/') && !operations.every(takesKey),
  },
  {
    file: 'client/src/schema.ts',
    described: true,
    keysOnly: true,
    includes: (_path, operations) => operations.some(takesKey),
  },
];

async function generate(target: Target): Promise<string> {
  if (!existsSync(join(tool, 'node_modules/openapi-typescript')))
    await runCommand('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tool });
  const folder = mkdtempSync(join(tmpdir(), 'everpost-types-'));
  try {
    const [input, output] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')];
    writeFileSync(input, JSON.stringify(documentFor(target)));
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
  'x-access': string;
  responses: Record<string, { description: string; content?: object }>;
}

/**
 * Leaves out what a target treats alike for all routes
 * (errors, headers) and routes that it cannot call, which makes the file a fifth of its size.
 */
function documentFor({ includes, keysOnly }: Target): object {
  const whole = openApiOf(declaredRoutes());
  const paths = Object.entries(whole.paths as Record<string, Record<string, Operation>>)
    .filter(([path, operations]) => includes(path, Object.values(operations)))
    .map(([path, operations]) => {
      const callable = Object.entries(operations).filter(([, one]) => !keysOnly || takesKey(one));
      return [path, mapValues(Object.fromEntries(callable), withoutErrors)];
    });
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

for (const target of targets) {
  const generated = await generate(target);
  const file = join(root, target.file);
  if (!process.argv.includes('--check')) writeFileSync(file, generated);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== generated) {
    console.error(`${target.file} is out of date: run "npm run api-types" and commit it.`);
    process.exitCode = 1;
  }
}
