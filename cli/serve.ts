// `everpost serve`: API and worker in one process, for small installations.
import { readOpenApi } from '../api/http/openapi-file.ts';
import { startApi } from '../api/start.ts';
import { apiTemporal } from '../api/temporal.ts';
import { doctorAdvice } from '../platform/doctor-advice.ts';
import { createLogger } from '../platform/logger.ts';
import { readSettings, SettingsError } from '../platform/settings.ts';
import { exitAt, exitOnFault, shutdownSignal, shutdownTimes } from '../platform/shutdown.ts';
import { startFailure } from '../platform/start-failure.ts';
import { createTemporal } from '../temporal/connection.ts';
import { workerRoles } from '../worker/roles.ts';
import { startWorker, workerSettings } from '../worker/start.ts';

/** Runs until a signal. Both parts are as safe as in processes of their own: what a crash interrupts is in the database. */
async function run(): Promise<void> {
  const roles = new Set(workerRoles);
  const settings = readSettings(process.env, workerSettings(roles));
  const log = createLogger('serve', settings.logLevel);
  exitOnFault(log);
  const document = readOpenApi();
  const temporal = createTemporal(settings.temporal, { renewMs: settings.timings.certificates.renew });
  const worker = await startWorker({ settings, roles, log, temporal });
  const api = await startApi({ settings, log, document, ...apiTemporal(temporal) });
  log.info({ signal: await shutdownSignal() }, 'shutting down; finishing open requests and running work');
  const { forceMs, exitMs } = shutdownTimes(settings.shutdownGraceSeconds);
  exitAt(exitMs, log);
  setTimeout(() => api.cut(), forceMs).unref();
  await Promise.all([api.stop(), worker.stop()]);
  await temporal.close();
  log.info('shut down');
}

export const serve = (): Promise<never> =>
  run().then(
    () => process.exit(0),
    (error: unknown) => {
      const reason = startFailure(error);
      console.error(reason ?? (error instanceof Error ? error.message : error));
      if (!reason && !(error instanceof SettingsError)) console.error(doctorAdvice);
      process.exit(1);
    },
  );
