import { pino } from 'pino';
import { Listener } from '../../db/listener.ts';
import { processTimings } from '../../platform/timings.ts';
import { eventually } from './waiting.ts';

const HOUR_MS = 3_600_000;
/** A slow machine must not look like a connection that is lost. */
const timings = { ...processTimings, listener: { ...processTimings.listener, heartbeatTimeout: HOUR_MS } };

/** A listener that counts as healthy until its connection is cut. Not started. */
export const patientListener = (databaseUrl: string): Listener =>
  new Listener({ databaseUrl, log: pino({ level: 'silent' }), timings });

/** Starts a listener and waits until it hears notifications. */
export async function startListener(listener: Listener): Promise<void> {
  await listener.start();
  await eventually(() => listener.healthy, { what: 'a listening connection' });
}
