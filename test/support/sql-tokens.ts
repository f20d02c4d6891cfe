/** A token of a SQL statement. Identifiers are lower-case, without quotes; strings and comments are removed. */
export interface Token {
  kind: 'word' | 'quoted' | 'param' | 'string' | 'number' | 'symbol';
  text: string;
  /** For an opening parenthesis: the index of the closing one. */
  close?: number;
}

const PIECE =
  /--[^\n]*|\/\*[\s\S]*?\*\/|(?<dollar>\$(?<tag>[a-z_]*)\$[\s\S]*?\$\k<tag>\$)|(?<string>e?'(?:[^']|'')*')|"(?<quoted>[^"]+)"|\$(?<param>\d+)|(?<number>\d+(?:\.\d+)?)|(?<word>[a-z_][a-z0-9_]*)|(?<symbol>::|<=|>=|<>|!=|->>|#>>|->|@>|\|\||\S)/gi;

export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  const open: Token[] = [];
  for (const { groups = {} } of sql.matchAll(PIECE)) {
    const { dollar, string, quoted, param, number, word, symbol } = groups;
    if (dollar ?? string) tokens.push({ kind: 'string', text: "''" });
    else if (quoted) tokens.push({ kind: 'quoted', text: quoted });
    else if (param) tokens.push({ kind: 'param', text: param });
    else if (number) tokens.push({ kind: 'number', text: number });
    else if (word) tokens.push({ kind: 'word', text: word.toLowerCase() });
    else if (symbol) {
      const token: Token = { kind: 'symbol', text: symbol };
      if (symbol === '(') open.push(token);
      const opening = symbol === ')' ? open.pop() : undefined;
      if (opening) opening.close = tokens.length;
      tokens.push(token);
    }
  }
  if (open.length > 0) throw new Error(`A parenthesis is not closed: ${sql}`);
  return tokens;
}

export const isIdentifier = (token: Token | undefined): token is Token =>
  token?.kind === 'word' || token?.kind === 'quoted';

export const isWord = (token: Token | undefined, ...words: string[]): boolean =>
  token?.kind === 'word' && words.includes(token.text);

export const isSymbol = (token: Token | undefined, ...symbols: string[]): boolean =>
  token?.kind === 'symbol' && symbols.includes(token.text);

/** Returns the statement on one line, with parameter lists shortened: the same for any number of values. */
export function normalize(sql: string): string {
  return sql
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/\(\$\d+(?:, \$\d+)*\)(?:, \(\$\d+(?:, \$\d+)*\))*/g, '($n)')
    .replace(/\$\d+/g, '$n')
    .trim();
}
