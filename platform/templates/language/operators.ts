import type { CompiledExpression, NodeCompiler } from './node-compiler.ts';
import type * as ast from './nunjucks.ts';
import type { RenderRun } from './run.ts';
import { add, concat, numberOf } from './values.ts';

/** The operands of a binary operator. */
export type Operands = { left: ast.Expression; right: ast.Expression };

export const binary =
  (apply: Operation) =>
  (node: Operands, compiler: NodeCompiler): CompiledExpression => {
    const left = compiler.expression(node.left);
    const right = compiler.expression(node.right);
    return (run) => apply(left(run), right(run), run);
  };

export const numeric =
  (apply: (a: number, b: number) => number) =>
  (a: unknown, b: unknown, { budget }: RenderRun) =>
    apply(numberOf(a, budget), numberOf(b, budget));

type Operation = (left: unknown, right: unknown, run: RenderRun) => unknown;

interface Term {
  /** Joins the operand to the terms before it; empty for the first. */
  operator: string;
  operand: ast.Expression;
}

/** Evaluates a chain of operators from left to right; nunjucks' parser groups some of them differently. */
function leftToRight(
  operations: Record<string, Operation>,
): (node: ast.Expression, compiler: NodeCompiler) => CompiledExpression {
  return (node, compiler) => {
    const [first, ...rest] = termsOf(node, operations).map(({ operator, operand }) => ({
      apply: operations[operator],
      value: compiler.expression(operand),
    }));
    return (run) => {
      let result = first?.value(run);
      for (const { apply, value } of rest) result = apply?.(result, value(run), run);
      return result;
    };
  };
}

function termsOf(node: ast.Expression, operations: Record<string, Operation>): Term[] {
  const chain: (Operands & { typename: string })[] = [];
  let leftmost = node;
  for (; Object.hasOwn(operations, leftmost.typename); leftmost = (leftmost as Operands & ast.Expression).left)
    chain.push(leftmost as Operands & ast.Expression);
  const terms: Term[] = [{ operator: '', operand: leftmost }];
  for (const { typename, right } of chain.reverse())
    for (const [index, term] of termsOf(right, operations).entries())
      terms.push(index === 0 ? { ...term, operator: typename } : term);
  return terms;
}

export const product = leftToRight({
  Mul: numeric((a, b) => a * b),
  Div: numeric((a, b) => a / b),
  Mod: numeric((a, b) => a % b),
});
export const sum = leftToRight({ Add: (a, b, { budget }) => add(a, b, budget), Sub: numeric((a, b) => a - b) });

export const concatenation = leftToRight({ Concat: (a, b, { budget }) => concat(a, b, budget) });
