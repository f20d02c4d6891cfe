import { doctorAdvice } from './doctor-advice.ts';

interface SystemError {
  code?: string;
  address?: string;
  port?: number;
  message?: string;
}

/** Returns why a process cannot start in one sentence and what to do, for mistakes in its settings; otherwise undefined. */
export function startFailure(error: unknown): string | undefined {
  const { code, address, port, message } = (error ?? {}) as SystemError;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${address} is in use by another program. Stop it, or set another port.`;
    case 'EACCES':
      return port === undefined ? undefined : `This user may not open port ${port}. Set a port above 1023.`;
    case '28P01':
    case '28000':
    case '3D000':
      return `Postgres refuses DATABASE_URL: ${message}. ${doctorAdvice}`;
    default:
      return undefined;
  }
}
