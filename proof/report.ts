// The table that a run ends with.
import { textTable } from '../dev/text-table.ts';

export interface ProofRow {
  part: string;
  what: string;
  /** How much was looked at, such as `1,204 mails`. */
  checked: string;
  violations: string[];
  /** Explains what is not a violation, such as the number of unknown outcomes. */
  note?: string;
  /** Printed below the table. */
  details?: string;
}

const SHOWN = 5;

/** Prints the rows, and the first violations of each. Returns whether there were none. */
export function printProof(rows: ProofRow[], print: (line: string) => void = console.log): boolean {
  const header = ['part', 'what', 'checked', 'violations', 'note'];
  const cells = rows.map(({ part, what, checked, violations, note = '' }) => [
    part,
    what,
    checked,
    String(violations.length),
    note,
  ]);
  for (const line of textTable(header, cells)) print(line);
  for (const { part, what, details } of rows) if (details) print(`${part}, ${what}: ${details}`);
  for (const { part, what, violations } of rows)
    for (const violation of violations.slice(0, SHOWN)) print(`VIOLATION ${part}, ${what}: ${violation}`);
  return rows.every(({ violations }) => violations.length === 0);
}
