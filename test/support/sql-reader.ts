// Navigates the tokens of a SQL statement: levels of parentheses, lists, clauses.
import { isIdentifier, isSymbol, isWord, type Token } from './sql-tokens.ts';

/** A range of tokens: from the first index to before the second. */
export type Range = [start: number, end: number];

export const QUERY = ['select', 'with', 'insert', 'update', 'delete', 'values'];
export const CLAUSES =
  'where group having order limit offset fetch for window returning union intersect except set values select on'.split(
    ' ',
  );
export const JOINS = ['join', 'inner', 'left', 'right', 'full', 'cross', 'natural'];

export class TokenReader {
  protected readonly tokens: Token[];

  constructor(tokens: Token[]) {
    this.tokens = tokens;
  }

  protected list([start, end]: Range): Range[] {
    const items: Range[] = [];
    let from = start;
    for (let at = start; at < end; at = this.next(at))
      if (isSymbol(this.tokens[at], ',')) {
        items.push([from, at]);
        from = at + 1;
      }
    return [...items, [from, end]];
  }

  protected params([start, end]: Range): number[] {
    const numbers = this.tokens.slice(start, end).filter(({ kind }) => kind === 'param');
    return [...new Set(numbers.map(({ text }) => Number(text)))];
  }

  protected startsQuery(at: number): boolean {
    let first = at;
    while (isSymbol(this.tokens[first], '(')) first++;
    return isWord(this.tokens[first], ...QUERY);
  }

  protected conditionEnd(start: number, end: number): number {
    for (let at = start; at < end; at = this.next(at)) {
      const isCall = isSymbol(this.tokens[at + 1], '(') && isWord(this.tokens[at], 'left', 'right');
      if (isSymbol(this.tokens[at], ',') || (isWord(this.tokens[at], ...CLAUSES, ...JOINS) && !isCall)) return at;
    }
    return end;
  }

  protected clauseEnd(start: number, end: number): number {
    let at = start;
    while (at < end && !isWord(this.tokens[at], ...CLAUSES)) at = this.next(at);
    return Math.min(at, end);
  }

  /** Returns the next token on the same level. */
  protected next(at: number): number {
    return this.tokens[at]?.close === undefined ? at + 1 : this.after(at);
  }

  protected after(open: number): number {
    return (this.tokens[open]?.close ?? open) + 1;
  }

  protected inside(open: number): Range {
    return [open + 1, this.tokens[open]?.close ?? open + 1];
  }

  /** Removes a cast at the end. */
  protected stripped([start, end]: Range): Range {
    let to = end;
    for (let at = start; at < end; at = this.next(at))
      if (isSymbol(this.tokens[at], '::')) {
        to = at;
        break;
      }
    return [start, to];
  }

  protected tuple(range: Range): Range[] {
    const [start, end] = range;
    if (!isSymbol(this.tokens[start], '(') || this.after(start) !== end || this.startsQuery(start + 1)) return [range];
    return this.list(this.inside(start));
  }

  protected hasColumn([start, end]: Range): boolean {
    for (let at = start; at < end; at++)
      if (isIdentifier(this.tokens[at]) && !isSymbol(this.tokens[at + 1], '(') && !isSymbol(this.tokens[at - 1], '::'))
        return true;
    return false;
  }
}
