import { join } from 'node:path';
import { pino } from 'pino';
import { sourceExtension } from '../../platform/process-flags.ts';
import { Composer, type ComposerOptions } from '../../services/sending/composer.ts';
import { atEndOfRun } from './cleanup.ts';
import { testLinkSettings } from './links.ts';

/** Longer than a busy machine needs for any mail. */
const PATIENCE_MS = 600_000;

let shared: Composer | undefined;

/** Returns the real composer with one process, shared by all tests of a run. */
export function testComposer(): Composer {
  if (!shared) {
    const composer = new Composer({
      settings: testLinkSettings,
      log: pino({ level: 'silent' }),
      processes: 1,
      limits: { silenceMs: PATIENCE_MS },
    });
    atEndOfRun(() => composer.close());
    shared = composer;
  }
  return shared;
}

/**
 * For tests in which a mail hangs: its process is killed after this time. Mail that is composed alone gets twice as much,
 * which is enough for an innocent one on a busy machine.
 */
export const SILENCE_MS = 4_000;

/** Returns a composer whose processes treat marked mails as poisonous, see poisonous-compose-child.ts. */
export const poisonousComposer = ({ limits, ...options }: Partial<ComposerOptions> = {}): Composer =>
  new Composer({
    settings: testLinkSettings,
    log: pino({ level: 'silent' }),
    processes: 1,
    entry: join(import.meta.dirname, `poisonous-compose-child${sourceExtension}`),
    limits: { silenceMs: PATIENCE_MS, ...limits },
    ...options,
  });
