import { Compiler, type Write } from './compiler.ts';
import { hasMarks } from './marks.ts';
import { parse } from './parser.ts';
import { TemplateSyntaxError, type TemplateViolation } from './syntax-error.ts';

export interface Template {
  source: string;
  write: Write;
  /** Its text looks like the marks that we make ourselves. */
  marked: boolean;
}

export type Compiled = { template: Template; faults: [] } | { template: undefined; faults: TemplateViolation[] };

/** Never throws and runs nothing; takes time in proportion to the text. */
export function compileTemplate(source: string): Compiled {
  const compiler = new Compiler();
  try {
    const write = compiler.template(parse(source));
    if (compiler.faults.length === 0) return { template: { source, write, marked: hasMarks(source) }, faults: [] };
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    compiler.faults.push(error.fault);
  }
  return { template: undefined, faults: compiler.faults.sort((a, b) => a.line - b.line || a.column - b.column) };
}

/** What must be put right before this can be a template; empty when nothing must. */
export const checkTemplate = (source: string): TemplateViolation[] => compileTemplate(source).faults;
