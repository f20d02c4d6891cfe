// `npm run diagrams`: draws the diagrams of the guides into `docs/img/`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { diagrams } from './diagrams/diagrams.ts';
import { draw } from './diagrams/draw.ts';
import { root } from './root.ts';

const folder = join(root, 'docs/img');
for (const [name, diagram] of Object.entries(diagrams)) writeFileSync(join(folder, `${name}.svg`), draw(name, diagram));
