// What we use of nunjucks: its grammar. The types that its own declarations leave out.
import nunjucks from 'nunjucks';

interface Place {
  lineno: number;
  colno: number;
}

interface Of<Name extends string> extends Place {
  typename: Name;
}

interface Listing<Name extends string, Item = Expression> extends Of<Name> {
  children: Item[];
}

interface Binary<Name extends string> extends Of<Name> {
  left: Expression;
  right: Expression;
}

interface Unary<Name extends string> extends Of<Name> {
  target: Expression;
}

export interface Literal extends Of<'Literal'> {
  value: unknown;
}

export interface Name extends Of<'Symbol'> {
  value: string;
}

export interface Pair extends Of<'Pair'> {
  key: Expression;
  value: Expression;
}

export interface Lookup extends Of<'LookupVal'> {
  target: Expression;
  val: Expression;
}

export interface Call extends Of<'FunCall'> {
  name: Expression;
  args: Arguments;
}

export interface Filter extends Of<'Filter'> {
  name: Name;
  args: Arguments;
}

export type Arguments = Listing<'NodeList', Expression | KeywordArgs>;
export type KeywordArgs = Listing<'KeywordArgs', Pair>;

export interface InlineIf extends Of<'InlineIf'> {
  cond: Expression;
  body: Expression;
  else_: Expression | null;
}

export interface Compare extends Of<'Compare'> {
  expr: Expression;
  ops: { type: string; expr: Expression }[];
}

export interface Caller extends Of<'Caller'> {
  args: Arguments;
  body: Body;
}

export interface Capture extends Of<'Capture'> {
  body: Body;
}

export type Arithmetic =
  | Binary<'Sub'>
  | Binary<'Mul'>
  | Binary<'Div'>
  | Binary<'FloorDiv'>
  | Binary<'Mod'>
  | Binary<'Pow'>;

export type Expression =
  | Literal
  | Name
  | Listing<'Group'>
  | Listing<'Array'>
  | Listing<'Dict', Pair>
  | Lookup
  | Call
  | Filter
  | InlineIf
  | Compare
  | Caller
  | Capture
  | Arithmetic
  | Binary<'And'>
  | Binary<'Or'>
  | Binary<'In'>
  | Binary<'Is'>
  | Binary<'Add'>
  | Binary<'Concat'>
  | Unary<'Not'>
  | Unary<'Neg'>
  | Unary<'Pos'>;

export interface TemplateData extends Of<'TemplateData'> {
  value: string;
}

export type Output = Listing<'Output', Expression | TemplateData>;

export interface If extends Of<'If'> {
  cond: Expression;
  body: Body;
  else_: Body | If | null;
}

export interface For extends Of<'For'> {
  arr: Expression;
  name: Name | Listing<'Array'>;
  body: Body;
  else_: Body | null;
}

export interface Set extends Of<'Set'> {
  targets: Expression[];
  value: Expression | null;
  /** In place of a value: `{% set x %}...{% endset %}`. */
  body?: Capture;
}

export interface Macro extends Of<'Macro'> {
  name: Expression;
  args: Arguments;
  body: Body;
}

export interface Switch extends Of<'Switch'> {
  expr: Expression;
  cases: { cond: Expression; body: Body }[];
  default: Body | null;
}

export type Statement = Output | If | For | Set | Macro | Switch;
export type Body = Listing<'NodeList', Statement>;
export type Root = Listing<'Root', Statement>;

export interface Token {
  type: string;
  value: string;
  lineno: number;
  colno: number;
}

/** What a parser reads from. */
export interface Tokens {
  nextToken(): Token | null;
  tags: { VARIABLE_START: string; VARIABLE_END: string; COMMENT_START: string; COMMENT_END: string };
}

interface ParserBase {
  parseAsRoot(): Root;
  parseStatement(): Statement | null;
  parseOr(): Expression;
  peekToken(): Token | null;
  skipValue(type: string, value: string): boolean;
  fail(message: string, lineno: number, colno: number): never;
}

interface Internals {
  parser: { Parser: new (tokens: Tokens) => ParserBase };
  nodes: {
    Symbol: new (lineno: number, colno: number, value: string) => Name;
    Filter: new (lineno: number, colno: number, name: Name, args: Arguments) => Filter;
    NodeList: new (lineno: number, colno: number, children: Expression[]) => Arguments;
  };
}

export const { parser, nodes } = nunjucks as unknown as Internals;
