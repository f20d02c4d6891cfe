import type { Compiler, Write } from './compiler.ts';
import type { Evaluate } from './expressions.ts';
import type * as ast from './nunjucks.ts';
import { Scope } from './run.ts';
import { compare, isTrue, listOf, rowsOf } from './values.ts';

type Compilers = {
  [T in ast.Statement['typename']]: (node: Extract<ast.Statement, { typename: T }>, compiler: Compiler) => Write;
};

export const statements: Compilers = {
  Output: compileOutput,
  If: compileIf,
  For: compileFor,
  Set: compileSet,
  Macro: compileMacro,
  Switch: compileSwitch,
};

const nothing: Write = () => {};

function compileOutput({ children }: ast.Output, compiler: Compiler): Write {
  const [only] = children;
  if (!only) return nothing;
  if (only.typename === 'TemplateData') {
    const { value } = only;
    return (run) => run.write(value);
  }
  const evaluate = compiler.expression(only);
  return (run) => run.print(evaluate(run));
}

function compileIf(node: ast.If, compiler: Compiler): Write {
  const condition = compiler.expression(node.cond);
  const then = compiler.body(node.body);
  const otherwise = node.else_ ? compiler.body(node.else_) : nothing;
  return (run) => (isTrue(condition(run)) ? then(run) : otherwise(run));
}

function compileFor(node: ast.For, compiler: Compiler): Write {
  const names = (node.name.typename === 'Array' ? node.name.children : [node.name]).map((name) =>
    nameOf(name, compiler),
  );
  const several = node.name.typename === 'Array';
  const list = compiler.expression(node.arr);
  const body = compiler.body(node.body);
  const otherwise = node.else_ ? compiler.body(node.else_) : nothing;
  return (run) => {
    const value = list(run);
    const rows = several ? rowsOf(value, run.budget) : listOf(value, run.budget);
    const scope = new Scope(run.scope);
    run.within(scope, () => {
      for (let index = 0; index < rows.length; index++) {
        run.budget.spend(names.length);
        const row = rows[index];
        for (const [place, name] of names.entries()) scope.define(name, several ? (row as unknown[])[place] : row);
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

function compileSet(node: ast.Set, compiler: Compiler): Write {
  const names = node.targets.map((target) => nameOf(target, compiler));
  const value: Evaluate = compiler.expression(node.value ?? (node.body as ast.Capture));
  return (run) => {
    const result = value(run);
    for (const name of names) run.scope.set(name, result);
  };
}

function compileMacro(node: ast.Macro, compiler: Compiler): Write {
  const name = nameOf(node.name, compiler);
  compiler.defineMacro(name);
  const make = compiler.callable(node.args, node.body, (run) => run.root);
  return (run) => run.root.define(name, make(run));
}

/** A case without a body falls through to the next one that has some. */
function compileSwitch(node: ast.Switch, compiler: Compiler): Write {
  const value = compiler.expression(node.expr);
  const cases = node.cases.map(({ cond, body }) => ({
    condition: compiler.expression(cond),
    body: compiler.body(body),
    empty: body.children.length === 0,
  }));
  const otherwise = node.default ? compiler.body(node.default) : nothing;
  return (run) => {
    const given = value(run);
    const matching = cases.findIndex(({ condition }) => compare('===', given, condition(run), run.budget));
    const chosen = matching === -1 ? undefined : cases.slice(matching).find(({ empty }) => !empty);
    (chosen?.body ?? otherwise)(run);
  };
}

function nameOf(node: ast.Expression, compiler: Compiler): string {
  return node.typename === 'Symbol' ? node.value : compiler.fault(node, 'a name is expected', '');
}
