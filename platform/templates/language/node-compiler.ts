import type * as ast from './nunjucks.ts';
import type { Macro, RenderRun, Scope } from './run.ts';

/** A compiled statement: writes its output to the run. */
export type CompiledStatement = (run: RenderRun) => void;

/** A compiled expression: returns its value. */
export type CompiledExpression = (run: RenderRun) => unknown;

export interface CompiledArguments {
  positional: CompiledExpression[];
  named: [string, CompiledExpression][];
}

/** As nunjucks counts: from 0. */
export interface Position {
  lineno: number;
  colno: number;
}

/** What the compilers of single nodes use of the compiler. */
export interface NodeCompiler {
  /** The result pays for all its nodes each time it runs, so that no loop is free. */
  body(node: ast.Root | ast.Body | ast.If): CompiledStatement;
  expression(node: ast.Expression): CompiledExpression;
  args(node: ast.Arguments): CompiledArguments;
  /** Compiles a macro or the block of a `call`, which runs in its own scope below the one that `scopeOf` returns. */
  callable(args: ast.Arguments, body: ast.Body, scopeOf: (run: RenderRun) => Scope): (run: RenderRun) => Macro;
  defineMacro(name: string): void;
  /** Checks at the end of the template that the macro is defined; it may be defined after the call. */
  expectMacro(name: ast.Name): void;
  /** Records a violation and returns `instead`, so that compiling continues and finds all violations. */
  report<T>(position: Position, message: string, instead: T): T;
}
