import { type Evaluate, expressions } from './expressions.ts';
import type * as ast from './nunjucks.ts';
import { type Run, Scope } from './run.ts';
import { statements } from './statements.ts';
import { TemplateSyntaxError, type TemplateViolation } from './syntax-error.ts';
import { Callable } from './values.ts';

/** A statement, ready to be carried out. */
export type Write = (run: Run) => void;

export interface Args {
  positional: Evaluate[];
  named: [string, Evaluate][];
}

interface Place {
  lineno: number;
  colno: number;
}

const MAX_DEPTH = 150;

/**
 * Makes closures from what nunjucks' parser gives. nunjucks itself writes JavaScript and evaluates it, and lets text of
 * the template into that program (docs/decisions/020); here no program is made, and nothing can be reached that has no
 * closure.
 */
export class Compiler {
  readonly faults: TemplateViolation[] = [];
  private readonly macros = new Set(['range', 'caller']);
  private readonly calls: ast.Name[] = [];
  private depth = 0;
  /** Parts of the body that is being compiled, without those of the bodies in it. */
  private parts = 0;

  template(root: ast.Root): Write {
    const write = this.body(root);
    for (const { value, lineno, colno } of this.calls)
      if (!this.macros.has(value)) this.fault({ lineno, colno }, `there is no function "${value}"`, undefined);
    return write;
  }

  /** Pays for all of its parts each time, so that no amount of repeating goes unpaid. */
  body(node: ast.Root | ast.Body | ast.If): Write {
    const outside = this.parts;
    this.parts = 0;
    const writes = this.deeper(node, () => this.sequence(node.typename === 'If' ? [node] : node.children));
    const cost = this.parts;
    this.parts = outside;
    return (run) => {
      run.budget.spend(cost);
      for (const write of writes) write(run);
    };
  }

  expression(node: ast.Expression): Evaluate {
    return this.deeper(node, () => {
      const compile = expressions[node.typename] as
        | ((node: ast.Expression, compiler: Compiler) => Evaluate)
        | undefined;
      return compile ? compile(node, this) : this.fault(node, 'this is not available in templates', () => undefined);
    });
  }

  args({ children }: ast.Arguments): Args {
    const positional: Evaluate[] = [];
    const named: [string, Evaluate][] = [];
    for (const child of children)
      if (child.typename !== 'KeywordArgs') positional.push(this.expression(child));
      else
        for (const { key, value } of child.children)
          if (key.typename === 'Symbol') named.push([key.value, this.expression(value)]);
          else this.fault(key, 'the name of an argument is expected before "="', undefined);
    return { positional, named };
  }

  /** A macro or the block of a `call`: it runs in a scope of its own, below the one that `scopeOf` gives. */
  callable(args: ast.Arguments, body: ast.Body, scopeOf: (run: Run) => Scope): (run: Run) => Callable {
    const { parameters, defaults } = this.parameters(args);
    const write = this.body(body);
    return (defining) => {
      const above = scopeOf(defining);
      return new Callable((run, given, named) => {
        const scope = new Scope(above, true);
        return run.capture(() =>
          run.within(scope, () => {
            for (const [place, name] of parameters.entries()) {
              const value = named.has(name) ? named.get(name) : given[place];
              scope.define(name, value === undefined ? defaults.get(name)?.(run) : value);
            }
            if (named.has('caller')) scope.define('caller', named.get('caller'));
            write(run);
          }),
        );
      });
    };
  }

  private parameters({ children }: ast.Arguments): { parameters: string[]; defaults: Map<string, Evaluate> } {
    const parameters: string[] = [];
    const defaults = new Map<string, Evaluate>();
    for (const child of children)
      if (child.typename === 'Symbol') parameters.push(child.value);
      else if (child.typename === 'KeywordArgs')
        for (const { key, value } of child.children) {
          const name = key.typename === 'Symbol' ? key.value : this.fault(key, 'a name is expected', '');
          parameters.push(name);
          defaults.set(name, this.expression(value));
        }
      else this.fault(child, 'a name is expected', undefined);
    return { parameters, defaults };
  }

  defineMacro(name: string): void {
    this.macros.add(name);
  }

  /** The macro may be defined further down. */
  expectMacro(name: ast.Name): void {
    this.calls.push(name);
  }

  /** Notes what is wrong, and goes on with `instead` so that all faults are told at once. */
  fault<T>({ lineno, colno }: Place, message: string, instead: T): T {
    this.faults.push({ line: lineno + 1, column: colno + 1, message });
    return instead;
  }

  private sequence(nodes: ast.Statement[]): Write[] {
    return nodes.map((node) => {
      this.parts++;
      const compile = statements[node.typename] as ((node: ast.Statement, compiler: Compiler) => Write) | undefined;
      return compile ? compile(node, this) : this.fault(node, 'this is not available in templates', () => {});
    });
  }

  private deeper<T>(node: Place, compile: () => T): T {
    if (this.depth === MAX_DEPTH)
      throw new TemplateSyntaxError('this is nested too deeply', node.lineno + 1, node.colno + 1);
    this.depth++;
    this.parts++;
    const compiled = compile();
    this.depth--;
    return compiled;
  }
}
