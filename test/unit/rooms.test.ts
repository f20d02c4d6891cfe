import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');

/** Which room may use which, beside itself; types may be taken from anywhere. See docs/architecture.md. */
const mayUse: Record<string, string[]> = {
  platform: [],
  db: ['platform'],
  services: ['db', 'platform'],
  temporal: ['platform'],
  workflows: [],
  activities: ['services', 'db', 'platform'],
  web: [],
  api: ['services', 'platform', 'web'],
  cli: ['services', 'db', 'platform', 'temporal'],
  worker: ['activities', 'services', 'db', 'platform', 'temporal', 'workflows'],
};

/** The two places that put parts together. */
const assemblies = ['api/server.ts', 'api/start.ts'];

const IMPORT = /^(?:import|export)\s+(?!type\b)(?:([^'";]*?)\s+from\s+)?'(\.[^']+)'/gm;

/** `import { type A, type B }` takes nothing but types either. */
const takesValues = (names: string | undefined): boolean =>
  !names?.startsWith('{') ||
  names
    .replace(/[{}]/g, '')
    .split(',')
    .some((name) => name.trim() !== '' && !name.trim().startsWith('type '));

function forbiddenUses(room: string, allowed: string[]): string[] {
  const files = readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files
    .map((name) => join(room, name))
    .filter((file) => !assemblies.includes(file))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)]
        .filter(([, names]) => takesValues(names))
        .map(([, , target = '']) => relative(root, join(root, dirname(file), target)))
        .filter((target) => ![room, ...allowed].includes(target.split('/')[0] ?? ''))
        .map((target) => `${file} uses ${target}`),
    );
}

describe('the rooms', () => {
  for (const [room, allowed] of Object.entries(mayUse))
    it(`${room} uses ${allowed.length > 0 ? allowed.join(', ') : 'nothing of ours'}`, () => {
      expect(forbiddenUses(room, allowed)).to.deep.equal([]);
    });
});
