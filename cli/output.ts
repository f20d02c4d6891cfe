import { doctorAdvice } from '../platform/doctor-advice.ts';

/** The result of a command: lines for people, or one JSON object. */
export interface CommandResult {
  lines: string[];
  json: object;
  /** The command ran and found a problem: the process exits with 1. */
  failed?: boolean;
}

/** Runs a command and prints its result. Errors are printed without a stack and set exit code 1. */
export async function printOutcome(asJson: boolean | undefined, work: () => Promise<CommandResult>): Promise<void> {
  try {
    const { lines, json, failed } = await work();
    console.log(asJson ? JSON.stringify({ ok: !failed, ...json }) : lines.join('\n'));
    if (failed) process.exitCode = 1;
  } catch (error) {
    printError(asJson, error);
  }
}

export function printError(asJson: boolean | undefined, error: unknown): void {
  const message = messageOf(error);
  if (asJson) console.log(JSON.stringify({ ok: false, error: message }));
  else console.error(isConnectionError(error) ? `${message}\n${doctorAdvice}` : message);
  process.exitCode = 1;
}

/** Of Postgres: connection exceptions, no connections left, a wrong password or database. Node's own codes begin with E. */
const CONNECTION_CODE = /^(08...|28...|3D000|53300|57P0[123]|E[A-Z]+)$/;

function isConnectionError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  return error instanceof Error && 'code' in error && CONNECTION_CODE.test(String(error.code));
}

/** Returns the first of several errors: connecting to a name with several addresses fails once per address. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
