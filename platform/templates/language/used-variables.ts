import type * as ast from './nunjucks.ts';
import { FALLBACK, parse } from './parser.ts';
import { TemplateSyntaxError } from './syntax-error.ts';

/** A variable of a template, where it is written or tested. */
export interface UsedVariable {
  /** `profile.tier`: the name, then the keys that are constant. */
  path: string[];
  /** Its value is written. If not, it is only tested or looped over. */
  isWritten: boolean;
  /** Something is written in its place when it has no value, or nothing around it. */
  hasFallback: boolean;
  line: number;
}

/** Filters that replace a missing value. */
const FALLBACK_FILTERS = [FALLBACK, 'default', 'd'];
/** Names that are no variables of the caller. */
const LANGUAGE_NAMES = ['loop', 'range', 'caller'];
/** The object of all custom fields: `data['first name']`. */
const DATA = 'data';

interface Use {
  isWritten: boolean;
  hasFallback: boolean;
  /** Paths of variables that are known to have a value here. */
  tested: ReadonlySet<string>;
}

type AnyNode = { typename?: string } & Record<string, unknown>;

/** Returns the variables of a template in their order; none for an invalid one. Runs nothing. */
export function usedVariables(source: string): UsedVariable[] {
  try {
    const root = parse(source);
    const finder = new VariableFinder(namesDefinedIn(root as unknown as AnyNode));
    finder.visit(root, { isWritten: false, hasFallback: false, tested: new Set() });
    return finder.found;
  } catch (error) {
    if (error instanceof TemplateSyntaxError || error instanceof RangeError) return [];
    throw error;
  }
}

class VariableFinder {
  readonly found: UsedVariable[] = [];
  private readonly defined: ReadonlySet<string>;

  constructor(defined: ReadonlySet<string>) {
    this.defined = defined;
  }

  visit(value: unknown, use: Use): void {
    if (Array.isArray(value)) for (const item of value) this.visit(item, use);
    else if (isNode(value)) this.visitNode(value, use);
  }

  private visitNode(node: AnyNode, use: Use): void {
    const tested = { ...use, isWritten: false };
    switch (node.typename) {
      case 'Output':
        this.visit(node.children, { ...use, isWritten: true, hasFallback: false });
        return;
      case 'Symbol':
      case 'LookupVal':
        this.visitVariable(node as unknown as ast.Name | ast.Lookup, use);
        return;
      case 'Filter':
        this.visitFilter(node as unknown as ast.Filter, use);
        return;
      case 'Or':
        this.visit(node.left, { ...use, hasFallback: true });
        this.visit(node.right, use);
        return;
      case 'If':
      case 'InlineIf':
        this.visit(node.cond, tested);
        this.visit(node.body, { ...use, tested: new Set([...use.tested, ...this.pathsIn(node.cond)]) });
        this.visit(node.else_, use);
        return;
      case 'Compare':
      case 'Is':
      case 'In':
      case 'Not':
        this.visitParts(node, tested);
        return;
      case 'For':
        this.visit(node.arr, tested);
        this.visit(node.body, use);
        this.visit(node.else_, use);
        return;
      case 'FunCall':
        this.visit(node.args, tested);
        return;
      case 'Pair':
        this.visit(node.value, use);
        return;
      default:
        this.visitParts(node, use);
    }
  }

  private visitParts(node: AnyNode, use: Use): void {
    for (const [name, part] of Object.entries(node)) if (name !== 'parent') this.visit(part, use);
  }

  /** The name of a filter is no variable. */
  private visitFilter({ name, args }: ast.Filter, use: Use): void {
    const [value, ...others] = args.children;
    const isFallback = FALLBACK_FILTERS.includes(name.value);
    this.visit(value, isFallback ? { ...use, hasFallback: true } : use);
    this.visit(others, isFallback ? use : { ...use, isWritten: false });
  }

  private visitVariable(node: ast.Name | ast.Lookup, { isWritten, hasFallback, tested }: Use): void {
    const path = pathOf(node);
    if (path) {
      const [name = ''] = path;
      if (this.defined.has(name) || LANGUAGE_NAMES.includes(name)) return;
      const shown = name === DATA && path.length > 1 ? path.slice(1) : path;
      this.found.push({
        path: shown,
        isWritten,
        hasFallback: hasFallback || tested.has(shown.join('.')),
        line: node.lineno + 1,
      });
    } else if (node.typename === 'LookupVal') {
      const use = { isWritten: false, hasFallback, tested };
      this.visit(node.target, use);
      this.visit(node.val, use);
    }
  }

  private pathsIn(condition: unknown): string[] {
    const inside = new VariableFinder(this.defined);
    inside.visit(condition, { isWritten: false, hasFallback: false, tested: new Set() });
    return inside.found.map(({ path }) => path.join('.'));
  }
}

const isNode = (value: unknown): value is AnyNode => typeof value === 'object' && value !== null && 'typename' in value;

/** Returns undefined for an expression that is not a name with constant keys. */
function pathOf(node: ast.Expression): string[] | undefined {
  if (node.typename === 'Symbol') return [node.value];
  if (node.typename !== 'LookupVal' || node.val.typename !== 'Literal') return undefined;
  const before = pathOf(node.target);
  return before && [...before, String(node.val.value)];
}

/** Returns the names that the template itself defines: items of loops, `set`, macros and their arguments. */
function namesDefinedIn(node: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(node)) for (const item of node) namesDefinedIn(item, names);
  if (!isNode(node)) return names;
  if (node.typename === 'For') addNames(node.name, names);
  if (node.typename === 'Set') addNames(node.targets, names);
  if (node.typename === 'Macro' || node.typename === 'Caller') addNames([node.name, node.args], names);
  for (const part of Object.values(node)) namesDefinedIn(part, names);
  return names;
}

function addNames(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) addNames(item, names);
  else if (isNode(value) && value.typename === 'Symbol') names.add(String(value.value));
  else if (isNode(value) && value.typename === 'Pair') addNames(value.key, names);
  else if (isNode(value) && 'children' in value) addNames(value.children, names);
}
