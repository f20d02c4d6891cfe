import { expressions } from './expressions.ts';
import type {
  CompiledArguments,
  CompiledExpression,
  CompiledStatement,
  NodeCompiler,
  Position,
} from './node-compiler.ts';
import type * as ast from './nunjucks.ts';
import { Macro, type RenderRun, Scope } from './run.ts';
import { statements } from './statements.ts';
import { TemplateSyntaxError, type TemplateViolation } from './syntax-error.ts';

const MAX_DEPTH = 150;

/**
 * Compiles the syntax tree of nunjucks' parser to closures. nunjucks itself generates and evaluates JavaScript that can
 * contain text of the template. Closures generate no code, and reach only what they were given. See
 * docs/decisions/templates.md.
 */
export class Compiler implements NodeCompiler {
  readonly violations: TemplateViolation[] = [];
  private readonly macros = new Set(['range', 'caller']);
  private readonly calls: ast.Name[] = [];
  private depth = 0;
  /** Of the last expression. */
  private position: Position = { lineno: 0, colno: 0 };
  /** Counts the nodes of the body that is being compiled, without those of nested bodies. */
  private nodeCount = 0;

  template(root: ast.Root): CompiledStatement {
    const write = this.body(root);
    for (const { value, lineno, colno } of this.calls)
      if (!this.macros.has(value)) this.report({ lineno, colno }, `unknown function "${value}"`, undefined);
    return write;
  }

  body(node: ast.Root | ast.Body | ast.If): CompiledStatement {
    const outside = this.nodeCount;
    this.nodeCount = 0;
    const writes = this.nested(node, () => this.sequence(node.typename === 'If' ? [node] : node.children));
    const cost = this.nodeCount;
    this.nodeCount = outside;
    return (run) => {
      run.budget.spend(cost);
      for (const write of writes) write(run);
    };
  }

  /** nunjucks' parser leaves null where an operand is missing, as in `{{ a %}`. */
  expression(node: ast.Expression | null): CompiledExpression {
    if (!node)
      throw new TemplateSyntaxError('an expression is missing', this.position.lineno + 1, this.position.colno + 1);
    this.position = node;
    return this.nested(node, () => {
      const compile = expressions[node.typename] as
        | ((node: ast.Expression, compiler: Compiler) => CompiledExpression)
        | undefined;
      return compile ? compile(node, this) : this.report(node, 'this is not available in templates', () => undefined);
    });
  }

  args({ children }: ast.Arguments): CompiledArguments {
    const positional: CompiledExpression[] = [];
    const named: [string, CompiledExpression][] = [];
    for (const child of children)
      if (child.typename !== 'KeywordArgs') positional.push(this.expression(child));
      else
        for (const { key, value } of child.children)
          if (key.typename === 'Symbol') named.push([key.value, this.expression(value)]);
          else this.report(key, 'the name of an argument is expected before "="', undefined);
    return { positional, named };
  }

  callable(args: ast.Arguments, body: ast.Body, scopeOf: (run: RenderRun) => Scope): (run: RenderRun) => Macro {
    const { parameters, defaults } = this.parameters(args);
    const write = this.body(body);
    return (defining) => {
      const parent = scopeOf(defining);
      return new Macro((run, given, named) => {
        const scope = new Scope(parent, true);
        return run.capture(() =>
          run.within(scope, () => {
            for (const [index, name] of parameters.entries()) {
              const value = named.has(name) ? named.get(name) : given[index];
              scope.define(name, value === undefined ? defaults.get(name)?.(run) : value);
            }
            if (named.has('caller')) scope.define('caller', named.get('caller'));
            write(run);
          }),
        );
      });
    };
  }

  private parameters({ children }: ast.Arguments): { parameters: string[]; defaults: Map<string, CompiledExpression> } {
    const parameters: string[] = [];
    const defaults = new Map<string, CompiledExpression>();
    for (const child of children)
      if (child.typename === 'Symbol') parameters.push(child.value);
      else if (child.typename === 'KeywordArgs')
        for (const { key, value } of child.children) {
          const name = key.typename === 'Symbol' ? key.value : this.report(key, 'a name is expected', '');
          parameters.push(name);
          defaults.set(name, this.expression(value));
        }
      else this.report(child, 'a name is expected', undefined);
    return { parameters, defaults };
  }

  defineMacro(name: string): void {
    this.macros.add(name);
  }

  expectMacro(name: ast.Name): void {
    this.calls.push(name);
  }

  report<T>({ lineno, colno }: Position, message: string, instead: T): T {
    this.violations.push({ line: lineno + 1, column: colno + 1, message });
    return instead;
  }

  private sequence(nodes: ast.Statement[]): CompiledStatement[] {
    return nodes.map((node) => {
      this.nodeCount++;
      const compile = statements[node.typename] as
        | ((node: ast.Statement, compiler: Compiler) => CompiledStatement)
        | undefined;
      return compile ? compile(node, this) : this.report(node, 'this is not available in templates', () => {});
    });
  }

  private nested<T>(node: Position, compile: () => T): T {
    if (this.depth === MAX_DEPTH)
      throw new TemplateSyntaxError('this is nested too deeply', node.lineno + 1, node.colno + 1);
    this.depth++;
    this.nodeCount++;
    const compiled = compile();
    this.depth--;
    return compiled;
  }
}
