import { pino } from 'pino';
import { createRenderer, type Renderer } from '../../platform/templates/index.ts';
import { atEndOfRun } from './cleanup.ts';

/** Longer than a busy machine needs for any mail. The budget of a template does not depend on it. */
const PATIENCE_MS = 600_000;

let shared: Renderer | undefined;

/** Returns the real renderer with one process, shared by all tests of a run. */
export function testRenderer(): Renderer {
  if (!shared) {
    const renderer = createRenderer({
      log: pino({ level: 'silent' }),
      processes: 1,
      limits: { silenceMs: PATIENCE_MS },
    });
    atEndOfRun(() => renderer.close());
    shared = renderer;
  }
  return shared;
}
