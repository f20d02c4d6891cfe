import { pino } from 'pino';
import { createRenderer, type Renderer } from '../../platform/renderer/index.ts';
import { atEnd } from './cleanup.ts';

let shared: Renderer | undefined;

/** The real one, with one process; all tests of a run share it. */
export function testRenderer(): Renderer {
  if (!shared) {
    const renderer = createRenderer({ log: pino({ level: 'silent' }), processes: 1 });
    atEnd(() => renderer.close());
    shared = renderer;
  }
  return shared;
}
