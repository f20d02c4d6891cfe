import type { CompiledExpression, CompiledStatement, NodeCompiler } from './node-compiler.ts';
import type * as ast from './nunjucks.ts';
import { Scope } from './run.ts';
import { compare, isTrue, listOf, rowsOf } from './values.ts';

type StatementCompilers = {
  [T in ast.Statement['typename']]: (
    node: Extract<ast.Statement, { typename: T }>,
    compiler: NodeCompiler,
  ) => CompiledStatement;
};

export const statements: StatementCompilers = {
  Output: compileOutput,
  If: compileIf,
  For: compileFor,
  Set: compileSet,
  Macro: compileMacro,
  Switch: compileSwitch,
};

const noOutput: CompiledStatement = () => {};

function compileOutput({ children }: ast.Output, compiler: NodeCompiler): CompiledStatement {
  const [only] = children;
  if (!only) return noOutput;
  if (only.typename === 'TemplateData') {
    const { value } = only;
    return (run) => run.write(value);
  }
  const evaluate = compiler.expression(only);
  return (run) => run.print(evaluate(run));
}

function compileIf(node: ast.If, compiler: NodeCompiler): CompiledStatement {
  const condition = compiler.expression(node.cond);
  const then = compiler.body(node.body);
  const otherwise = node.else_ ? compiler.body(node.else_) : noOutput;
  return (run) => (isTrue(condition(run)) ? then(run) : otherwise(run));
}

function compileFor(node: ast.For, compiler: NodeCompiler): CompiledStatement {
  const names = (node.name.typename === 'Array' ? node.name.children : [node.name]).map((name) =>
    nameOf(name, compiler),
  );
  const several = node.name.typename === 'Array';
  const list = compiler.expression(node.arr);
  const body = compiler.body(node.body);
  const otherwise = node.else_ ? compiler.body(node.else_) : noOutput;
  return (run) => {
    const value = list(run);
    const rows = several ? rowsOf(value, run.budget) : listOf(value, run.budget);
    const scope = new Scope(run.scope);
    run.within(scope, () => {
      for (let index = 0; index < rows.length; index++) {
        run.budget.spend(names.length);
        const row = rows[index];
        for (const [position, name] of names.entries())
          scope.define(name, several ? (row as unknown[])[position] : row);
        scope.define('loop', loopOf(index, rows.length));
        body(run);
      }
    });
    if (rows.length === 0) otherwise(run);
  };
}

const loopOf = (index: number, length: number) => ({
  index: index + 1,
  index0: index,
  revindex: length - index,
  revindex0: length - index - 1,
  first: index === 0,
  last: index === length - 1,
  length,
});

function compileSet(node: ast.Set, compiler: NodeCompiler): CompiledStatement {
  const names = node.targets.map((target) => nameOf(target, compiler));
  const value: CompiledExpression = compiler.expression(node.value ?? (node.body as ast.Capture));
  return (run) => {
    const result = value(run);
    for (const name of names) run.scope.set(name, result);
  };
}

function compileMacro(node: ast.Macro, compiler: NodeCompiler): CompiledStatement {
  const name = nameOf(node.name, compiler);
  compiler.defineMacro(name);
  const make = compiler.callable(node.args, node.body, (run) => run.root);
  return (run) => run.root.define(name, make(run));
}

/** A case without a body falls through to the next one with a body. */
function compileSwitch(node: ast.Switch, compiler: NodeCompiler): CompiledStatement {
  const value = compiler.expression(node.expr);
  const cases = node.cases.map(({ cond, body }) => ({
    condition: compiler.expression(cond),
    body: compiler.body(body),
    empty: body.children.length === 0,
  }));
  const otherwise = node.default ? compiler.body(node.default) : noOutput;
  return (run) => {
    const given = value(run);
    const matching = cases.findIndex(({ condition }) => compare('===', given, condition(run), run.budget));
    const chosen = matching === -1 ? undefined : cases.slice(matching).find(({ empty }) => !empty);
    (chosen?.body ?? otherwise)(run);
  };
}

function nameOf(node: ast.Expression, compiler: NodeCompiler): string {
  return node.typename === 'Symbol' ? node.value : compiler.report(node, 'a name is expected', '');
}
