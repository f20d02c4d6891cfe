/** What is wrong with a template, and where. Line and column count from 1 in the source. */
export interface TemplateViolation {
  line: number;
  column: number;
  message: string;
}

/** Thrown where parsing cannot continue. */
export class TemplateSyntaxError extends Error {
  readonly violation: TemplateViolation;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.name = 'TemplateSyntaxError';
    this.violation = { line, column, message };
  }
}
