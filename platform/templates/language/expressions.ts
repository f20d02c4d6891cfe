import { filters } from './filters.ts';
import type { CompiledExpression, NodeCompiler } from './node-compiler.ts';
import type * as ast from './nunjucks.ts';
import { binary, concatenation, numeric, type Operands, product, sum } from './operators.ts';
import { range } from './range.ts';
import { Macro } from './run.ts';
import { tests } from './tests.ts';
import { compare, contains, isTrue, lookUp, numberOf } from './values.ts';

type ExpressionCompilers = {
  [T in ast.Expression['typename']]: (
    node: Extract<ast.Expression, { typename: T }>,
    compiler: NodeCompiler,
  ) => CompiledExpression;
};

export const expressions: ExpressionCompilers = {
  Literal:
    ({ value }) =>
    () =>
      value,
  Symbol:
    ({ value: name }) =>
    (run) =>
      run.find(name),
  Group: compileGroup,
  Array: ({ children }, compiler) => listOf(children, compiler),
  Dict: compileDict,
  LookupVal: compileLookup,
  FunCall: compileCall,
  Filter: compileFilter,
  InlineIf: compileInlineIf,
  Compare: compileCompare,
  Is: compileTest,
  Caller: (node, compiler) => compiler.callable(node.args, node.body, (run) => run.scope),
  Capture: ({ body }, compiler) => {
    const write = compiler.body(body);
    return (run) => run.capture(() => write(run)).text;
  },
  And: ({ left, right }, compiler) => {
    const a = compiler.expression(left);
    const b = compiler.expression(right);
    return (run) => {
      const value = a(run);
      return isTrue(value) ? b(run) : value;
    };
  },
  Or: ({ left, right }, compiler) => {
    const a = compiler.expression(left);
    const b = compiler.expression(right);
    return (run) => {
      const value = a(run);
      return isTrue(value) ? value : b(run);
    };
  },
  Not: ({ target }, compiler) => {
    const value = compiler.expression(target);
    return (run) => !isTrue(value(run));
  },
  Neg: ({ target }, compiler) => {
    const value = compiler.expression(target);
    return (run) => -numberOf(value(run), run.budget);
  },
  Pos: ({ target }, compiler) => {
    const value = compiler.expression(target);
    return (run) => numberOf(value(run), run.budget);
  },
  In: binary((key, value, { budget }) => contains(value, key, budget)),
  Add: sum,
  Sub: sum,
  Mul: product,
  Div: product,
  Mod: product,
  Concat: concatenation,
  FloorDiv: binary(numeric((a, b) => Math.floor(a / b))),
  Pow: binary(numeric((a, b) => a ** b)),
};

const noValue: CompiledExpression = () => undefined;

function listOf(children: ast.Expression[], compiler: NodeCompiler): CompiledExpression {
  const items = children.map((child) => compiler.expression(child));
  return (run) => items.map((item) => item(run));
}

function compileGroup(
  node: Extract<ast.Expression, { typename: 'Group' }>,
  compiler: NodeCompiler,
): CompiledExpression {
  const [only, ...more] = node.children;
  if (only && more.length === 0) return compiler.expression(only);
  return compiler.report(node, 'one expression is expected between the parentheses', noValue);
}

function compileDict(
  { children }: Extract<ast.Expression, { typename: 'Dict' }>,
  compiler: NodeCompiler,
): CompiledExpression {
  const entries = children.map((pair) => {
    const { key } = pair;
    const name = (key.typename === 'Symbol' || key.typename === 'Literal') && key.value;
    if (typeof name !== 'string') compiler.report(key, 'a key must be a name or a text', noValue);
    return [String(name), compiler.expression(pair.value)] as const;
  });
  // fromEntries defines own properties, `__proto__` included.
  return (run) => Object.fromEntries(entries.map(([key, value]) => [key, value(run)]));
}

function compileLookup(node: ast.Lookup, compiler: NodeCompiler): CompiledExpression {
  if (!node.val) return compiler.report(node, 'a name or number is expected between the brackets', noValue);
  const value = compiler.expression(node.target);
  const key = compiler.expression(node.val);
  return (run) => lookUp(value(run), key(run));
}

function compileInlineIf(node: ast.InlineIf, compiler: NodeCompiler): CompiledExpression {
  const condition = compiler.expression(node.cond);
  const then = compiler.expression(node.body);
  const otherwise = node.else_ ? compiler.expression(node.else_) : noValue;
  return (run) => (isTrue(condition(run)) ? then(run) : otherwise(run));
}

function compileCompare(node: ast.Compare, compiler: NodeCompiler): CompiledExpression {
  const first = compiler.expression(node.expr);
  const rest = node.ops.map(({ type, expr }) => ({ type, value: compiler.expression(expr) }));
  return (run) => {
    let result = first(run);
    for (const { type, value } of rest) result = compare(type, result, value(run), run.budget);
    return result;
  };
}

function compileCall(node: ast.Call, compiler: NodeCompiler): CompiledExpression {
  const { name: called } = node;
  if (called.typename !== 'Symbol')
    return compiler.report(node, 'methods cannot be called in templates; use a filter', noValue);
  const name = called.value;
  compiler.expectMacro(called);
  const { positional, named } = compiler.args(node.args);
  return (run) => {
    const found = run.find(name);
    const args = positional.map((arg) => arg(run));
    if (found instanceof Macro) {
      const names = new Map(named.map(([key, value]) => [key, value(run)]));
      return run.budget.nested(() => found.call(run, args, names));
    }
    return name === 'range' && found === undefined ? range(args, run.budget) : undefined;
  };
}

function compileFilter(node: ast.Filter, compiler: NodeCompiler): CompiledExpression {
  const { value: name } = node.name;
  const filter = filters.get(name);
  if (!filter) return compiler.report(node, `unknown filter "${name}"`, noValue);
  const [block] = node.args.children;
  if (filter.takesHtml && block?.typename === 'Capture') {
    const write = compiler.body(block.body);
    return (run) =>
      filter.apply(
        run.capture(() => write(run)),
        [],
        run.budget,
      );
  }
  const { positional, named } = compiler.args(node.args);
  const [input = noValue, ...rest] = positional;
  const args: (CompiledExpression | undefined)[] = rest;
  for (const [key, value] of named) {
    const index = filter.parameters.indexOf(key);
    if (index === -1) return compiler.report(node, `the filter "${name}" has no argument "${key}"`, noValue);
    args[index] = value;
  }
  const { apply } = filter;
  return (run) => {
    const values: unknown[] = [];
    for (let index = 0; index < args.length; index++) values.push(args[index]?.(run));
    return apply(input(run), values, run.budget);
  };
}

/** `value is even`, `value is divisibleby(3)`; the parser gives `none` and `null` as literals. */
function compileTest(node: Operands & { lineno: number; colno: number }, compiler: NodeCompiler): CompiledExpression {
  const { right } = node;
  const call = right.typename === 'FunCall' ? right : undefined;
  const named = call ? call.name : right;
  const name = named.typename === 'Symbol' ? named.value : named.typename === 'Literal' ? String(named.value) : '';
  const test = tests.get(name);
  if (!test) return compiler.report(right, `unknown test "${name}"`, noValue);
  const value = compiler.expression(node.left);
  const [argument = noValue] = call ? compiler.args(call.args).positional : [];
  return (run) => test(value(run), argument(run), run.budget);
}
