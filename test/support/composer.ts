import { join } from 'node:path';
import { pino } from 'pino';
import { sourceExtension } from '../../platform/process-flags.ts';
import { Composer, type ComposerOptions } from '../../services/sending/composer.ts';
import { atEndOfRun } from './cleanup.ts';
import { testLinkSettings } from './links.ts';

let shared: Composer | undefined;

/** Returns the real composer with one process, shared by all tests of a run. */
export function testComposer(): Composer {
  if (!shared) {
    const composer = new Composer({ settings: testLinkSettings, log: pino({ level: 'silent' }), processes: 1 });
    atEndOfRun(() => composer.close());
    shared = composer;
  }
  return shared;
}

/** Returns a composer whose processes treat marked mails as poisonous, see poisonous-compose-child.ts. */
export const poisonousComposer = (options: Partial<ComposerOptions> = {}): Composer =>
  new Composer({
    settings: testLinkSettings,
    log: pino({ level: 'silent' }),
    processes: 1,
    entry: join(import.meta.dirname, `poisonous-compose-child${sourceExtension}`),
    ...options,
  });
