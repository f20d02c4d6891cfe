import { badRequest, type Violation } from '../../platform/errors.ts';
import { checkTemplate, type TemplateViolation } from '../../platform/templates/index.ts';

export interface TemplateTexts {
  subject?: string | undefined;
  body?: string | undefined;
}

export interface FieldViolation extends TemplateViolation {
  field: keyof TemplateTexts;
}

const MAX_VIOLATIONS = 20;

/** Returns the violations in a subject and a body, at most MAX_VIOLATIONS. */
export function faultsIn(texts: TemplateTexts): FieldViolation[] {
  const fields = ['subject', 'body'] as const;
  return fields
    .flatMap((field) => checkTemplate(texts[field] ?? '').map((violation) => ({ field, ...violation })))
    .slice(0, MAX_VIOLATIONS);
}

/** Converts a violation to an item of an API error. `details.faults` has line and column for editors. */
export const asViolation = ({ field, line, column, message }: FieldViolation): Violation => ({
  field,
  message: `Line ${line}, column ${column} of "${field}": ${message}`,
  code: 'custom',
});

export const requireValidTemplate = (texts: TemplateTexts): void => requireNoFaults(faultsIn(texts));

export function requireNoFaults(faults: FieldViolation[]): void {
  const errors = faults.map(asViolation);
  const [first] = errors;
  if (first) throw badRequest(`The template is invalid. ${first.message}.`, { errors, details: { faults } });
}
