import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** One structured log for a process. Logs carry ids, never addresses, bodies or keys. */
export function createLogger(part: string, level: string): Logger {
  return pino({
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: ['headers.authorization', 'headers.cookie', 'req.headers.authorization', 'req.headers.cookie'],
  });
}
