import { pathToFileURL } from 'node:url';
import { createLogger, type Logger } from '../platform/logger.ts';
import { readSettings, SettingsError } from '../platform/settings.ts';
import { checkDomainNow } from '../temporal/check-domain.ts';
import { createTemporal } from '../temporal/connection.ts';
import { type Api, startApi } from './start.ts';

const FAREWELL_MS = 25_000;

async function run(): Promise<void> {
  const settings = readSettings(process.env, ['DATABASE_URL']);
  const log = createLogger('api', settings.logLevel);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event);
      process.exit(1);
    });
  const temporal = settings.temporal.address ? createTemporal(settings.temporal) : undefined;
  const checkTemporal = async () => (await temporal?.check()) ?? false;
  const api = await startApi({
    settings,
    log,
    checkTemporal,
    askLoop: async (loop) => (temporal ? checkDomainNow(temporal, loop) : 'away'),
  });
  endOnSignal(api, log, async () => temporal?.close());
}

/** The first signal ends it politely, the second at once. */
function endOnSignal(api: Api, log: Logger, afterwards: () => Promise<void>): void {
  let ending = false;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (ending) {
      log.warn({ signal }, 'told twice: ending at once');
      process.exit(1);
    }
    ending = true;
    log.info({ signal }, 'finishing what is in flight');
    const late = setTimeout(() => {
      log.error('requests are still in flight after 25 s: cutting them off');
      api.cut();
      process.exit(1);
    }, FAREWELL_MS);
    await api.stop();
    await afterwards();
    clearTimeout(late);
    log.info('ended');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, (name) => void end(name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  run().catch((error: unknown) => {
    if (error instanceof SettingsError) console.error(error.message);
    else createLogger('api', 'info').fatal({ err: error }, 'the API cannot start');
    process.exit(1);
  });
