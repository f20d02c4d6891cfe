// `npm run api-lint`: checks our OpenAPI document with a public linter. CI runs it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiOf } from '../api/http/openapi.ts';
import { declaredRoutes } from '../api/routes/index.ts';
import { root } from './root.ts';
import { runCommand } from './run.ts';

const tool = join(root, 'dev/openapi-lint');

async function lint(): Promise<void> {
  if (!existsSync(join(tool, 'node_modules/@redocly/cli')))
    await runCommand('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tool });
  const folder = mkdtempSync(join(tmpdir(), 'everpost-lint-'));
  try {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(openApiOf(declaredRoutes()), null, 1));
    const cli = join(tool, 'node_modules/@redocly/cli/bin/cli.js');
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    await runCommand(
      process.execPath,
      [cli, 'lint', file, '--config', join(tool, 'redocly.yaml'), '--format', 'stylish'],
      { cwd: tool, env, onLine: (line) => /error|warning/.test(line) && console.log(line) },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

lint().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
