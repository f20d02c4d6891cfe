import { badRequest, type Fault } from '../../platform/errors.ts';
import { checkTemplate, type TemplateViolation } from '../../platform/renderer/index.ts';

export interface TemplateTexts {
  subject?: string | undefined;
  body?: string | undefined;
}

export interface FieldViolation extends TemplateViolation {
  field: keyof TemplateTexts;
}

const MAX_FAULTS = 20;

/** What must be put right in a subject and a body before they can be rendered. */
export function faultsIn(texts: TemplateTexts): FieldViolation[] {
  const fields = ['subject', 'body'] as const;
  return fields
    .flatMap((field) => checkTemplate(texts[field] ?? '').map((fault) => ({ field, ...fault })))
    .slice(0, MAX_FAULTS);
}

/** The same as items of an answer; a client that marks the place finds it in `details`. */
export const asViolation = ({ field, line, column, message }: FieldViolation): Fault => ({
  field,
  message: `Line ${line}, column ${column} of "${field}": ${message}`,
  code: 'custom',
});

export function requireNoFaults(texts: TemplateTexts): void {
  const faults = faultsIn(texts);
  const errors = faults.map(asViolation);
  const [first] = errors;
  if (first) throw badRequest(`The template cannot be read. ${first.message}.`, { errors, details: { faults } });
}
