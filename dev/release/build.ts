// Builds everything that a release consists of.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildClientPackage } from '../client-package.ts';
import type { ReportProgress } from '../report.ts';
import { root } from '../root.ts';
import { execute } from '../run.ts';
import { writeBillOfMaterials } from '../supply-chain/bill.ts';
import { sourceFiles } from '../supply-chain/secrets.ts';
import { writeEverpostPackage } from './everpost-package.ts';
import { CHART } from './state.ts';

/** Writes the files of the release into an empty folder. */
export async function buildRelease(
  folder: string,
  { version, notes }: { version: string; notes: string },
  report: ReportProgress,
): Promise<void> {
  // Inside node_modules, so that the compiled program finds its packages while it writes its OpenAPI document.
  const cache = join(root, 'node_modules/.cache/everpost');
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'release-'));
  try {
    await pack(folder, work, version, report);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const { components } = writeBillOfMaterials(root, folder);
  report(`Listed ${components} components`);
  writeFileSync(join(folder, 'NOTES.md'), `# Everpost ${version}\n\n${notes}\n`);
  writeChecksums(folder);
}

async function pack(folder: string, work: string, version: string, report: ReportProgress): Promise<void> {
  report('Packing everpost');
  await writeEverpostPackage(join(work, 'everpost'), report);
  await npmPack(join(work, 'everpost'), folder);
  report('Packing @everpost/client');
  const client = join(work, 'client');
  await buildClientPackage(join(client, 'dist'));
  for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(root, 'client', file), join(client, file));
  await npmPack(client, folder);
  report('Packing the context of the image and the Helm chart');
  await packImageContext(join(folder, `everpost-image-${version}.tar.gz`), work);
  // The form that `helm package` writes: one folder with the name of the chart.
  await tar(join(folder, `everpost-chart-${version}.tgz`), ['-C', join(root, CHART, '..'), 'everpost']);
}

/** The scripts of a package would build it again. */
const npmPack = async (source: string, target: string): Promise<void> =>
  void (await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', target], { cwd: source }));

const tar = async (target: string, what: string[]): Promise<void> =>
  void (await execute('tar', ['-czf', target, ...what]));

/** `docker build - < everpost-image-….tar.gz`: the sources that .dockerignore leaves, with the Dockerfile. */
async function packImageContext(target: string, work: string): Promise<void> {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const isIgnored = (file: string) => ignored.some((name) => file === name || file.startsWith(`${name}/`));
  const list = join(work, 'files');
  writeFileSync(
    list,
    sourceFiles(root)
      .filter((file) => !isIgnored(file))
      .join('\n'),
  );
  await tar(target, ['-C', root, '-T', list]);
}

function writeChecksums(folder: string): void {
  const lines = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), `${lines.join('\n')}\n`);
}
