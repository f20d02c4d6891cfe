import { Compiler } from './compiler.ts';
import type { CompiledStatement } from './node-compiler.ts';
import { parse } from './parser.ts';
import { hasPlaceholders } from './placeholders.ts';
import { TemplateSyntaxError, type TemplateViolation } from './syntax-error.ts';

export interface Template {
  source: string;
  write: CompiledStatement;
  /** Its source contains placeholder characters, so it has no skeleton. */
  containsPlaceholders: boolean;
}

export type Compiled =
  | { template: Template; violations: [] }
  | { template: undefined; violations: TemplateViolation[] };

/** Never throws, runs nothing, and takes linear time. */
export function compileTemplate(source: string): Compiled {
  const compiler = new Compiler();
  try {
    const write = compiler.template(parse(source));
    if (compiler.violations.length === 0)
      return { template: { source, write, containsPlaceholders: hasPlaceholders(source) }, violations: [] };
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    compiler.violations.push(error.violation);
  }
  return {
    template: undefined,
    violations: compiler.violations.sort((a, b) => a.line - b.line || a.column - b.column),
  };
}

/** Returns the violations that keep a source from being a valid template. */
export const checkTemplate = (source: string): TemplateViolation[] => compileTemplate(source).violations;

/** Returns what keeps a text from being exactly one expression, such as the condition of an `if`. */
export function checkExpression(expression: string): string | undefined {
  if (expression.trim() === '') return 'it is empty';
  const source = `{% if ${expression}\n%}{% endif %}`;
  const [violation] = checkTemplate(source);
  if (violation) return violation.message;
  const [only, ...more] = parse(source).children;
  const isOne = only?.typename === 'If' && more.length === 0 && only.body.children.length === 0 && !only.else_;
  return isOne ? undefined : 'it contains more than one expression';
}
