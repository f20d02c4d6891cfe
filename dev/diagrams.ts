// `npm run diagrams`: draws the diagrams of the guides into `docs/img/`.
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { diagrams } from './diagrams/diagrams.ts';
import { draw } from './diagrams/draw.ts';

const folder = join(resolve(import.meta.dirname, '..'), 'docs/img');
for (const [name, diagram] of Object.entries(diagrams)) writeFileSync(join(folder, `${name}.svg`), draw(name, diagram));
