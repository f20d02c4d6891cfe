// Entry point of every npm script, in plain JavaScript: it runs before any package is installed.
// Installs the packages of package-lock.json when they are missing, then runs the given TypeScript file.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statfsSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What npm ci writes: 900 MB, and some for npm's cache. */
const PACKAGES_MB = 1_000;

/** Explains an old Node.js, which would fail later with a riddle. */
function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Everpost needs Node.js 20.19 or newer; this is ${process.versions.node}. See https://nodejs.org.`);
  process.exit(1);
}

/** Returns whether npm's record of installed packages has every package of the lockfile in its version. */
function isInstalled() {
  const packagesOf = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  try {
    const installed = packagesOf('node_modules/.package-lock.json');
    return Object.entries(packagesOf('package-lock.json')).every(
      ([path, wanted]) => path === '' || wanted.optional || installed[path]?.version === wanted.version,
    );
  } catch {
    return false;
  }
}

/** Names a full disk: npm would say so in one of many lines, after minutes. */
function checkDisk() {
  const { bavail, bsize, blocks } = statfsSync(root);
  const freeMb = Math.floor((bavail * bsize) / 1024 ** 2);
  // Some file systems do not say. npm removes installed packages before it installs others.
  if (blocks === 0 || freeMb >= PACKAGES_MB || existsSync(join(root, 'node_modules'))) return;
  console.error(
    `The disk of ${root} is full: ${freeMb} MB are free, and the packages need ${PACKAGES_MB} MB. Free some space, then start again.`,
  );
  process.exit(1);
}

function install() {
  checkDisk();
  console.error('Installing the packages of package-lock.json …');
  const npm = process.env.npm_execpath;
  const [command, before] = npm ? [process.execPath, [npm]] : ['npm', []];
  const { status } = spawnSync(command, [...before, 'ci', '--no-audit', '--no-fund'], { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  console.error(
    'npm ci failed (see above). The first start needs the network, to reach the package registry; later ones do not.',
  );
  process.exit(status ?? 1);
}

/** What `postinstall` does, for packages that were installed before it existed. npx runs this link without installing anything. */
function linkProgram() {
  try {
    symlinkSync('../../cli/everpost.mjs', join(root, 'node_modules/.bin/everpost'));
  } catch {
    // It exists, or the checkout belongs to another user.
  }
}

const [, , entry] = process.argv;
if (!entry) throw new Error('usage: node dev/bootstrap.mjs <file.ts> [arguments]');
checkNode();
if (!isInstalled()) install();
linkProgram();
const { register } = await import('tsx/esm/api');
register();
const file = resolve(root, entry);
process.argv.splice(1, 2, file);
await import(pathToFileURL(file).href);
