import type { Compiler } from './compiler.ts';
import { filters } from './filters.ts';
import type * as ast from './nunjucks.ts';
import { type Binary, binary, joining, numeric, products, sums } from './operators.ts';
import { range } from './range.ts';
import type { Run } from './run.ts';
import { tests } from './tests.ts';
import { Callable, compare, contains, isTrue, lookUp, numberOf } from './values.ts';

/** An expression, ready to be worked out. */
export type Evaluate = (run: Run) => unknown;

type Compilers = {
  [T in ast.Expression['typename']]: (node: Extract<ast.Expression, { typename: T }>, compiler: Compiler) => Evaluate;
};

export const expressions: Compilers = {
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
    const [a, b] = [compiler.expression(left), compiler.expression(right)];
    return (run) => {
      const value = a(run);
      return isTrue(value) ? b(run) : value;
    };
  },
  Or: ({ left, right }, compiler) => {
    const [a, b] = [compiler.expression(left), compiler.expression(right)];
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
  Add: sums,
  Sub: sums,
  Mul: products,
  Div: products,
  Mod: products,
  Concat: joining,
  FloorDiv: binary(numeric((a, b) => Math.floor(a / b))),
  Pow: binary(numeric((a, b) => a ** b)),
};

const nothing: Evaluate = () => undefined;

function listOf(children: ast.Expression[], compiler: Compiler): Evaluate {
  const items = children.map((child) => compiler.expression(child));
  return (run) => items.map((item) => item(run));
}

function compileGroup(node: Extract<ast.Expression, { typename: 'Group' }>, compiler: Compiler): Evaluate {
  const [only, ...more] = node.children;
  if (only && more.length === 0) return compiler.expression(only);
  return compiler.fault(node, 'one expression is expected between the parentheses', nothing);
}

function compileDict({ children }: Extract<ast.Expression, { typename: 'Dict' }>, compiler: Compiler): Evaluate {
  const entries = children.map((pair) => {
    const { key } = pair;
    const name = (key.typename === 'Symbol' || key.typename === 'Literal') && key.value;
    if (typeof name !== 'string') compiler.fault(key, 'a key must be a name or a text', nothing);
    return [String(name), compiler.expression(pair.value)] as const;
  });
  // fromEntries defines own properties whatever their names, `__proto__` included.
  return (run) => Object.fromEntries(entries.map(([key, value]) => [key, value(run)]));
}

function compileLookup(node: ast.Lookup, compiler: Compiler): Evaluate {
  if (!node.val) return compiler.fault(node, 'a name or number is expected between the brackets', nothing);
  const value = compiler.expression(node.target);
  const key = compiler.expression(node.val);
  return (run) => lookUp(value(run), key(run));
}

function compileInlineIf(node: ast.InlineIf, compiler: Compiler): Evaluate {
  const condition = compiler.expression(node.cond);
  const then = compiler.expression(node.body);
  const otherwise = node.else_ ? compiler.expression(node.else_) : nothing;
  return (run) => (isTrue(condition(run)) ? then(run) : otherwise(run));
}

function compileCompare(node: ast.Compare, compiler: Compiler): Evaluate {
  const first = compiler.expression(node.expr);
  const rest = node.ops.map(({ type, expr }) => ({ type, value: compiler.expression(expr) }));
  return (run) => {
    let result = first(run);
    for (const { type, value } of rest) result = compare(type, result, value(run), run.budget);
    return result;
  };
}

function compileCall(node: ast.Call, compiler: Compiler): Evaluate {
  const { name: called } = node;
  if (called.typename !== 'Symbol')
    return compiler.fault(node, 'methods cannot be called in templates; use a filter', nothing);
  const name = called.value;
  compiler.expectMacro(called);
  const { positional, named } = compiler.args(node.args);
  return (run) => {
    const found = run.find(name);
    const args = positional.map((arg) => arg(run));
    if (found instanceof Callable) {
      const names = new Map(named.map(([key, value]) => [key, value(run)]));
      return run.budget.nested(() => found.call(run, args, names));
    }
    return name === 'range' && found === undefined ? range(args, run.budget) : undefined;
  };
}

function compileFilter(node: ast.Filter, compiler: Compiler): Evaluate {
  const { value: name } = node.name;
  const filter = filters.get(name);
  if (!filter) return compiler.fault(node, `there is no filter "${name}"`, nothing);
  const { positional, named } = compiler.args(node.args);
  const [input = nothing, ...rest] = positional;
  const args: (Evaluate | undefined)[] = rest;
  for (const [key, value] of named) {
    const place = filter.parameters.indexOf(key);
    if (place === -1) return compiler.fault(node, `the filter "${name}" has no argument "${key}"`, nothing);
    args[place] = value;
  }
  const { apply } = filter;
  return (run) => {
    const values: unknown[] = [];
    for (let place = 0; place < args.length; place++) values.push(args[place]?.(run));
    return apply(input(run), values, run.budget);
  };
}

/** `value is even`, `value is divisibleby(3)`; the words `none` and `null` come as the value that they mean. */
function compileTest(node: Binary & { lineno: number; colno: number }, compiler: Compiler): Evaluate {
  const { right } = node;
  const call = right.typename === 'FunCall' ? right : undefined;
  const named = call ? call.name : right;
  const name = named.typename === 'Symbol' ? named.value : named.typename === 'Literal' ? String(named.value) : '';
  const test = tests.get(name);
  if (!test) return compiler.fault(right, `there is no test "${name}"`, nothing);
  const value = compiler.expression(node.left);
  const [argument = nothing] = call ? compiler.args(call.args).positional : [];
  return (run) => test(value(run), argument(run), run.budget);
}
