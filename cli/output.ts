/** What a command has to say: lines for people, or all of it as one JSON object. */
export interface Outcome {
  lines: string[];
  json: object;
  /** The command did its work, and what it found is not well. */
  failed?: boolean;
}

/** Runs a command and says what came of it; a fault is told without a stack, and ends the process with 1. */
export async function tell(asJson: boolean | undefined, work: () => Promise<Outcome>): Promise<void> {
  try {
    const { lines, json, failed } = await work();
    console.log(asJson ? JSON.stringify({ ok: !failed, ...json }) : lines.join('\n'));
    if (failed) process.exitCode = 1;
  } catch (error) {
    const message = messageOf(error);
    if (asJson) console.log(JSON.stringify({ ok: false, error: message }));
    else console.error(message);
    process.exitCode = 1;
  }
}

/** Postgres gives several errors at once when it tried several addresses; each says something. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
