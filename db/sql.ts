import { escapeIdentifier } from 'pg';

interface Parameter {
  value: unknown;
}

/** A piece of SQL with its parameters. Only text of this program becomes SQL; all input is bound. */
export class Fragment {
  readonly parts: readonly (string | Parameter)[];

  constructor(parts: readonly (string | Parameter)[]) {
    this.parts = parts;
  }

  /** Returns what is sent to Postgres. */
  toQuery(): { text: string; values: unknown[] } {
    const values: unknown[] = [];
    const text = this.parts.map((part) => (typeof part === 'string' ? part : `$${values.push(part.value)}`)).join('');
    return { text, values };
  }
}

/** Inlines interpolated fragments and binds every other value as a parameter. */
export function sql(strings: TemplateStringsArray, ...inserted: unknown[]): Fragment {
  const parts = strings.flatMap((text, n) => {
    if (n === inserted.length) return [text];
    const value = inserted[n];
    return value instanceof Fragment ? [text, ...value.parts] : [text, { value }];
  });
  return new Fragment(parts);
}

/** Text of this program, such as the name of a table or a condition without parameters. */
export const sqlText = (text: string): Fragment => new Fragment([text]);

/** A name that is read from the catalog, such as that of a partition. */
export const identifier = (name: string): Fragment => sqlText(escapeIdentifier(name));

export const joined = (fragments: Fragment[], separator: string): Fragment =>
  new Fragment(fragments.flatMap(({ parts }, n) => (n === 0 ? parts : [separator, ...parts])));
