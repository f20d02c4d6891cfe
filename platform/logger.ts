import { type Logger, pino } from 'pino';
import { serializeError } from './log-errors.ts';

export type { Logger } from 'pino';

export const logSerializers = { err: (error: unknown) => serializeError(error) };

/** Creates the structured logger of a process. Log ids, never addresses, bodies or keys. */
export function createLogger(part: string, level: string): Logger {
  return pino({
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: logSerializers,
    redact: ['headers.authorization', 'headers.cookie', 'req.headers.authorization', 'req.headers.cookie'],
  });
}
