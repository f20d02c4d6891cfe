import { pino } from 'pino';
import { createRenderer, type Renderer } from '../../platform/templates/index.ts';
import { atEndOfRun } from './cleanup.ts';

let shared: Renderer | undefined;

/** Returns the real renderer with one process, shared by all tests of a run. */
export function testRenderer(): Renderer {
  if (!shared) {
    const renderer = createRenderer({ log: pino({ level: 'silent' }), processes: 1 });
    atEndOfRun(() => renderer.close());
    shared = renderer;
  }
  return shared;
}
