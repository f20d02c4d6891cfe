/** What is wrong with a template, and where: both count from 1, in the text as its author wrote it. */
export interface TemplateViolation {
  line: number;
  column: number;
  message: string;
}

/** Thrown where reading cannot go on. */
export class TemplateSyntaxError extends Error {
  readonly fault: TemplateViolation;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.name = 'FaultError';
    this.fault = { line, column, message };
  }
}
