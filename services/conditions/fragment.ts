import type { Knex } from 'knex';
import type { Db } from '../../db/connect.ts';

/** A piece of SQL with its parameters. Only text of this program becomes SQL; all input is bound. */
export class Fragment {
  readonly text: string;
  readonly bindings: readonly unknown[];

  constructor(text: string, bindings: readonly unknown[]) {
    this.text = text;
    this.bindings = bindings;
  }
}

/** Inlines interpolated fragments and binds every other value as a parameter. */
export function sql(strings: TemplateStringsArray, ...parts: unknown[]): Fragment {
  let text = strings[0] ?? '';
  const bindings: unknown[] = [];
  for (const [n, part] of parts.entries()) {
    if (part instanceof Fragment) {
      text += part.text;
      for (const binding of part.bindings) bindings.push(binding);
    } else {
      text += '?';
      bindings.push(part);
    }
    text += strings[n + 1] ?? '';
  }
  return new Fragment(text, bindings);
}

export const joined = (parts: Fragment[], separator: string): Fragment =>
  new Fragment(
    parts.map(({ text }) => text).join(separator),
    parts.flatMap(({ bindings }) => bindings),
  );

/** Returns rows with the column names of the database (snake_case). */
export async function queryFragment<Row>(db: Db, { text, bindings }: Fragment): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(text, bindings as Knex.RawBinding[]);
  return rows;
}
