// The door of every npm script: plain JavaScript, so that it runs before anything is installed.
// Installs what package-lock.json asks for when it is not there yet, then runs the TypeScript file it is given.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.everpost-installed');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(readFileSync(join(root, 'package.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');

function installed() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

if (!installed()) {
  console.error('Installing the packages of package-lock.json (once) …');
  const npm = process.env.npm_execpath;
  const [command, before] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const run = spawnSync(command, [...before, 'ci', '--no-audit', '--no-fund'], { cwd: root, stdio: 'inherit' });
  if (run.status !== 0) {
    console.error('npm ci failed (see above). Is the package registry within reach?');
    process.exit(run.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}

const entry = process.argv[2];
if (!entry) throw new Error('usage: node dev/bootstrap.mjs <file.ts> [arguments]');
const { register } = await import('tsx/esm/api');
register();
process.argv.splice(1, 2, resolve(root, entry));
await import(pathToFileURL(resolve(root, entry)).href);
