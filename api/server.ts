import { pathToFileURL } from 'node:url';
import { doctorAdvice } from '../platform/doctor-advice.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { readSettings, SettingsError } from '../platform/settings.ts';
import { exitOnFault, shutdownTimes } from '../platform/shutdown.ts';
import { startFailure } from '../platform/start-failure.ts';
import { readOpenApi } from './http/openapi-file.ts';
import { type Api, startApi } from './start.ts';
import { connectApiTemporal } from './temporal.ts';

async function run(): Promise<void> {
  const settings = readSettings(process.env, ['DATABASE_URL']);
  const log = createLogger('api', settings.logLevel);
  exitOnFault(log);
  const document = readOpenApi();
  const { close, ...temporal } = await connectApiTemporal(settings.temporal);
  const api = await startApi({ settings, log, document, ...temporal });
  const { forceMs } = shutdownTimes(settings.shutdownGraceSeconds);
  shutDownOnSignal(api, log, forceMs, close);
}

/** The first signal shuts down gracefully, the second immediately. */
function shutDownOnSignal(api: Api, log: Logger, forceMs: number, afterwards: () => Promise<void>): void {
  let shuttingDown = false;
  const shutDown = async (signal: NodeJS.Signals): Promise<void> => {
    if (shuttingDown) {
      log.warn({ signal }, 'second signal: exiting immediately');
      process.exit(1);
    }
    shuttingDown = true;
    log.info({ signal }, 'shutting down: finishing open requests');
    const timeout = setTimeout(() => {
      log.error('requests are still open at the end of the grace period: closing their connections');
      api.cut();
      process.exit(1);
    }, forceMs);
    await api.stop();
    await afterwards();
    clearTimeout(timeout);
    log.info('shut down');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, (name) => void shutDown(name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  run().catch((error: unknown) => {
    const reason = error instanceof SettingsError ? error.message : startFailure(error);
    if (reason) console.error(reason);
    else createLogger('api', 'info').fatal({ err: error, advice: doctorAdvice }, 'the API cannot start');
    process.exit(1);
  });
