import type { Compiler } from './compiler.ts';
import type { Evaluate } from './expressions.ts';
import type * as ast from './nunjucks.ts';
import type { Run } from './run.ts';
import { add, concat, numberOf } from './values.ts';

export type Binary = { left: ast.Expression; right: ast.Expression };

export const binary =
  (work: Operation) =>
  (node: Binary, compiler: Compiler): Evaluate => {
    const left = compiler.expression(node.left);
    const right = compiler.expression(node.right);
    return (run) => work(left(run), right(run), run);
  };

export const numeric =
  (work: (a: number, b: number) => number) =>
  (a: unknown, b: unknown, { budget }: Run) =>
    work(numberOf(a, budget), numberOf(b, budget));

type Operation = (left: unknown, right: unknown, run: Run) => unknown;

interface Term {
  /** Joins it to what stands before. */
  operator: string;
  operand: ast.Expression;
}

/** Operators that are worked out from left to right, as they stand; nunjucks' parser groups some of them otherwise. */
function inOrder(operations: Record<string, Operation>): (node: ast.Expression, compiler: Compiler) => Evaluate {
  return (node, compiler) => {
    const [first, ...rest] = termsOf(node, operations).map(({ operator, operand }) => ({
      work: operations[operator],
      value: compiler.expression(operand),
    }));
    return (run) => {
      let result = first?.value(run);
      for (const { work, value } of rest) result = work?.(result, value(run), run);
      return result;
    };
  };
}

function termsOf(node: ast.Expression, operations: Record<string, Operation>): Term[] {
  const chain: (Binary & { typename: string })[] = [];
  let leftmost = node;
  for (; Object.hasOwn(operations, leftmost.typename); leftmost = (leftmost as Binary & ast.Expression).left)
    chain.push(leftmost as Binary & ast.Expression);
  const terms: Term[] = [{ operator: '', operand: leftmost }];
  for (const { typename, right } of chain.reverse())
    for (const [place, term] of termsOf(right, operations).entries())
      terms.push(place === 0 ? { ...term, operator: typename } : term);
  return terms;
}

export const products = inOrder({
  Mul: numeric((a, b) => a * b),
  Div: numeric((a, b) => a / b),
  Mod: numeric((a, b) => a % b),
});
export const sums = inOrder({ Add: (a, b, { budget }) => add(a, b, budget), Sub: numeric((a, b) => a - b) });

export const joining = inOrder({ Concat: (a, b, { budget }) => concat(a, b, budget) });
