// A component whose stylesheet is not imported has no shape: a bar of progress was once invisible.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';

const app = join(root, 'web/app/src');
const styles = join(root, 'node_modules/@mantine/core/styles');
const sheetsIn = (text: string): string[] =>
  [...text.matchAll(/@mantine\/core\/styles\/(\w+)\.css/g)].map(([, name = '']) => name);
const componentsIn = (text: string): string[] =>
  [...text.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );

describe('components of the web application', () => {
  it('have their stylesheets', () => {
    const shared = sheetsIn(readFileSync(join(app, 'mantine.css'), 'utf8'));
    const files = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tsx'));
    const without = files.flatMap((file) => {
      const text = readFileSync(join(app, file), 'utf8');
      const imported = [...shared, ...sheetsIn(text)];
      return componentsIn(text)
        .filter((name) => existsSync(join(styles, `${name}.css`)) && !imported.includes(name))
        .map((name) => `${file}: ${name}`);
    });
    expect(without).to.deep.equal([]);
  });
});
