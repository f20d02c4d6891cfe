// Runs the steps of a Dockerfile in folders, one for each stage, where there is no Docker. The node and the shell are those of
// this machine instead of the base image's; what the steps write by absolute paths is not kept apart.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execute } from '../../dev/run.ts';
import { sourceFiles } from '../../dev/supply-chain/secrets.ts';

/** Of the user `node` in the image. */
const USER_ID = 1_000;

interface Stage {
  folder: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthcheck: string[];
}

export interface BuiltImage {
  /** The working directory of its processes. */
  workdir: string;
  env: Record<string, string>;
  /** How it starts: the command, and the user where this process may change it. */
  command: string[];
  healthcheck: string[];
  account: { uid?: number; gid?: number };
}

/** Returns the last stage. `context` is the checkout. */
export async function buildDockerfile(context: string, folder: string): Promise<BuiltImage> {
  const text = readFileSync(join(context, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ');
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const [, word = '', rest = ''] of text.matchAll(/^([A-Z]+) +(.*)$/gm)) {
    if (word === 'FROM') {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? String(stages.size);
      stage = newStage(join(folder, name));
      stages.set(name, stage);
    } else if (stage) await step(stage, { word, rest }, { context, stages });
  }
  if (!stage) throw new Error('The Dockerfile has no stage.');
  const { workdir, env, command, healthcheck } = stage;
  const isRoot = process.getuid?.() === 0;
  const account = stage.user === 'node' && isRoot ? { uid: USER_ID, gid: USER_ID } : {};
  return { workdir: join(stage.folder, workdir), env, command, healthcheck, account };
}

function newStage(folder: string): Stage {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Another user runs what is in it.
  chmodSync(folder, 0o755);
  return { folder, workdir: '/', env: {}, user: 'root', command: [], healthcheck: [] };
}

async function step(
  stage: Stage,
  { word, rest }: { word: string; rest: string },
  { context, stages }: { context: string; stages: Map<string, Stage> },
): Promise<void> {
  const here = join(stage.folder, stage.workdir);
  switch (word) {
    case 'WORKDIR':
      stage.workdir = rest;
      return void mkdirSync(join(stage.folder, rest), { recursive: true });
    case 'ENV':
      return void Object.assign(stage.env, Object.fromEntries([rest.split('=')]));
    case 'COPY': {
      const [, from, list = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? [];
      const sources = list.split(/\s+/);
      const target = sources.pop() ?? '.';
      const source = from === undefined ? undefined : stages.get(from);
      for (const name of sources)
        if (source) cpSync(join(source.folder, name), join(here, target), { recursive: true, verbatimSymlinks: true });
        else copyContext(context, name, name === '.' || !target.endsWith('/') ? here : join(here, target));
      return;
    }
    case 'RUN': {
      if (rest === 'npm run build') reuseBuiltFiles(context, here);
      const script = rest.replaceAll('node:node', `${USER_ID}:${USER_ID}`);
      const { PATH, HOME } = process.env;
      return void (await execute('sh', ['-c', script], {
        cwd: here,
        env: { PATH, HOME, ...stage.env },
        maxBuffer: 1e8,
      }));
    }
    case 'USER':
      stage.user = rest;
      return;
    case 'CMD':
      stage.command = JSON.parse(rest);
      return;
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(/ CMD +(\[.*\])$/.exec(rest)?.[1] ?? '[]');
      return;
    case 'EXPOSE':
      return;
    default:
      throw new Error(`This does not know the instruction ${word}.`);
  }
}

/** The built web application and documentation, which the cache names by the content of their sources. */
function reuseBuiltFiles(context: string, target: string): void {
  const cache = join('node_modules', '.cache', 'everpost');
  const names = existsSync(join(context, cache)) ? readdirSync(join(context, cache)) : [];
  for (const name of names.filter((one) => /^(web-app|docs-site)-[0-9a-f]{24}$/.test(one)))
    cpSync(join(context, cache, name), join(target, cache, name), { recursive: true });
}

/** As Docker does, without the files that .dockerignore names. */
function copyContext(context: string, name: string, target: string): void {
  if (name !== '.') {
    cpSync(join(context, name), join(target, basename(name)));
    return;
  }
  const ignored = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const isIgnored = (file: string) => ignored.some((one) => file === one || file.startsWith(`${one}/`));
  for (const file of sourceFiles(context).filter((one) => !isIgnored(one)))
    cpSync(join(context, file), join(target, file));
}
