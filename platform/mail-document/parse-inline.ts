import joi from 'joi';
import { markAttributes, variableAttributes } from './attributes.ts';
import { isObject, joinPath, type ParseState, requireKeys } from './parse-state.ts';
import type { Inline, Mark, TextNode, VariableNode } from './types.ts';
import { splitAtVariables } from './variables.ts';

export interface InlineRules {
  breaks: boolean;
  links: boolean;
  marks: boolean;
}

/** Headings, paragraphs. */
export const richText: InlineRules = { breaks: true, links: true, marks: true };
/** A button is a link itself. */
export const buttonText: InlineRules = { breaks: false, links: false, marks: true };
export const plainText: InlineRules = { breaks: false, links: false, marks: false };

const simpleMarks = ['bold', 'italic', 'underline', 'strike'] as const;
const noAttributes = joi.object({});

/** Reads inline nodes; complete `{{name}}` in text become chips. */
export function readInlines(state: ParseState, value: unknown, path: string, rules: InlineRules): Inline[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    state.report(path, 'invalid_type', 'must be a list of text, variable and hardBreak nodes');
    return [];
  }
  return value.flatMap((node, index) => (state.isFull ? [] : readInline(state, node, joinPath(path, index), rules)));
}

function readInline(state: ParseState, node: unknown, path: string, rules: InlineRules): Inline[] {
  if (!isObject(node)) {
    state.report(path, 'invalid_type', 'must be a text, variable or hardBreak node');
    return [];
  }
  const marks = rules.marks ? readMarks(state, node.marks, joinPath(path, 'marks'), rules) : [];
  const marked = marks.length > 0 ? { marks } : {};
  switch (node.type) {
    case 'text':
      requireKeys(state, node, path, ['type', 'text', 'marks']);
      return readText(state, node.text, joinPath(path, 'text'), marked);
    case 'variable': {
      requireKeys(state, node, path, ['type', 'attrs', 'marks']);
      const schema = variableAttributes.required();
      const attrs = state.validate<VariableNode['attrs']>(schema, node.attrs ?? {}, joinPath(path, 'attrs'));
      return attrs ? [{ type: 'variable', attrs, ...marked }] : [];
    }
    case 'hardBreak':
      requireKeys(state, node, path, ['type', 'marks']);
      if (rules.breaks) return [{ type: 'hardBreak', ...marked }];
  }
  const allowed = rules.breaks ? 'text, variable or hardBreak' : 'text or variable';
  state.report(joinPath(path, 'type'), node.type === undefined ? 'required' : 'invalid_enum', `must be ${allowed}`);
  return [];
}

function readText(state: ParseState, text: unknown, path: string, marked: { marks?: Mark[] }): Inline[] {
  if (typeof text !== 'string') {
    state.report(path, text === undefined ? 'required' : 'invalid_type', 'must be text');
    return [];
  }
  const nodes: (TextNode | VariableNode)[] = [];
  for (const piece of splitAtVariables(text))
    if ('fault' in piece) state.report(path, 'invalid_string', piece.fault);
    else if ('chip' in piece) nodes.push({ type: 'variable', attrs: piece.chip, ...marked });
    else nodes.push({ type: 'text', text: piece.text, ...marked });
  return nodes;
}

function readMarks(state: ParseState, value: unknown, path: string, rules: InlineRules): Mark[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    state.report(path, 'invalid_type', 'must be a list of marks');
    return [];
  }
  const marks: Mark[] = [];
  for (const [index, given] of value.entries()) {
    const mark = readMark(state, given, joinPath(path, index), rules);
    if (mark && !marks.some(({ type }) => type === mark.type)) marks.push(mark);
  }
  return marks;
}

function readMark(state: ParseState, value: unknown, path: string, { links }: InlineRules): Mark | undefined {
  if (!isObject(value)) return state.report(path, 'invalid_type', 'must be a mark');
  requireKeys(state, value, path, ['type', 'attrs']);
  const { type, attrs = {} } = value;
  const at = joinPath(path, 'attrs');
  const simple = simpleMarks.find((name) => name === type);
  if (simple) return state.validate(noAttributes, attrs, at) && { type: simple };
  if (type === 'color') {
    const read = state.validate<{ color: string }>(markAttributes.color, attrs, at);
    return read && { type, attrs: read };
  }
  if (type === 'link' && links) {
    const read = state.validate<{ href: string }>(markAttributes.link, attrs, at);
    return read && { type, attrs: read };
  }
  const names = [...simpleMarks, 'color', ...(links ? ['link'] : [])];
  const code = type === undefined ? 'required' : 'invalid_enum';
  return state.report(joinPath(path, 'type'), code, `must be one of ${names.join(', ')}`);
}
