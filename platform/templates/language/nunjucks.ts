// Types of the parts of nunjucks that we use (its parser), which its own declarations leave out.
import nunjucks from 'nunjucks';

interface Position {
  lineno: number;
  colno: number;
}

interface Node<Name extends string> extends Position {
  typename: Name;
}

interface ListNode<Name extends string, Item = Expression> extends Node<Name> {
  children: Item[];
}

interface BinaryNode<Name extends string> extends Node<Name> {
  left: Expression;
  right: Expression;
}

interface UnaryNode<Name extends string> extends Node<Name> {
  target: Expression;
}

export interface Literal extends Node<'Literal'> {
  value: unknown;
}

export interface Name extends Node<'Symbol'> {
  value: string;
}

export interface Pair extends Node<'Pair'> {
  key: Expression;
  value: Expression;
}

export interface Lookup extends Node<'LookupVal'> {
  target: Expression;
  val: Expression;
}

export interface Call extends Node<'FunCall'> {
  name: Expression;
  args: Arguments;
}

export interface Filter extends Node<'Filter'> {
  name: Name;
  args: Arguments;
}

export type Arguments = ListNode<'NodeList', Expression | KeywordArgs>;
export type KeywordArgs = ListNode<'KeywordArgs', Pair>;

export interface InlineIf extends Node<'InlineIf'> {
  cond: Expression;
  body: Expression;
  else_: Expression | null;
}

export interface Compare extends Node<'Compare'> {
  expr: Expression;
  ops: { type: string; expr: Expression }[];
}

export interface Caller extends Node<'Caller'> {
  args: Arguments;
  body: Body;
}

export interface Capture extends Node<'Capture'> {
  body: Body;
}

export type Arithmetic =
  | BinaryNode<'Sub'>
  | BinaryNode<'Mul'>
  | BinaryNode<'Div'>
  | BinaryNode<'FloorDiv'>
  | BinaryNode<'Mod'>
  | BinaryNode<'Pow'>;

export type Expression =
  | Literal
  | Name
  | ListNode<'Group'>
  | ListNode<'Array'>
  | ListNode<'Dict', Pair>
  | Lookup
  | Call
  | Filter
  | InlineIf
  | Compare
  | Caller
  | Capture
  | Arithmetic
  | BinaryNode<'And'>
  | BinaryNode<'Or'>
  | BinaryNode<'In'>
  | BinaryNode<'Is'>
  | BinaryNode<'Add'>
  | BinaryNode<'Concat'>
  | UnaryNode<'Not'>
  | UnaryNode<'Neg'>
  | UnaryNode<'Pos'>;

export interface TemplateData extends Node<'TemplateData'> {
  value: string;
}

export type Output = ListNode<'Output', Expression | TemplateData>;

export interface If extends Node<'If'> {
  cond: Expression;
  body: Body;
  else_: Body | If | null;
}

export interface For extends Node<'For'> {
  arr: Expression;
  name: Name | ListNode<'Array'>;
  body: Body;
  else_: Body | null;
}

export interface Set extends Node<'Set'> {
  targets: Expression[];
  value: Expression | null;
  /** Instead of a value: `{% set x %}...{% endset %}`. */
  body?: Capture;
}

export interface Macro extends Node<'Macro'> {
  name: Expression;
  args: Arguments;
  body: Body;
}

export interface Switch extends Node<'Switch'> {
  expr: Expression;
  cases: { cond: Expression; body: Body }[];
  default: Body | null;
}

export type Statement = Output | If | For | Set | Macro | Switch;
export type Body = ListNode<'NodeList', Statement>;
export type Root = ListNode<'Root', Statement>;

export interface Token {
  type: string;
  value: string;
  lineno: number;
  colno: number;
}

/** The interface of a lexer, as the parser reads from it. */
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
