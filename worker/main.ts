// The process of a worker.
import { doctorAdvice } from '../platform/doctor-advice.ts';
import { createLogger } from '../platform/logger.ts';
import { readSettings, SettingsError } from '../platform/settings.ts';
import { exitAt, exitOnFault, shutdownSignal, shutdownTimes } from '../platform/shutdown.ts';
import { startFailure } from '../platform/start-failure.ts';
import { parseRoles, RolesError } from './roles.ts';
import { startWorker, workerSettings } from './start.ts';

async function run(): Promise<void> {
  const roles = parseRoles(process.argv.slice(2));
  const settings = readSettings(process.env, workerSettings(roles));
  const log = createLogger('worker', settings.logLevel);
  exitOnFault(log);
  const worker = await startWorker({ settings, roles, log });
  log.info({ signal: await shutdownSignal() }, 'shutting down; finishing running work');
  exitAt(shutdownTimes(settings.shutdownGraceSeconds).exitMs, log);
  await worker.stop();
  log.info('worker stopped');
}

run().then(
  () => process.exit(0),
  (error) => {
    const reason = startFailure(error);
    console.error(reason ?? (error instanceof Error ? error.message : error));
    // The message of these says what to change.
    if (!reason && !(error instanceof SettingsError || error instanceof RolesError)) console.error(doctorAdvice);
    process.exit(1);
  },
);
