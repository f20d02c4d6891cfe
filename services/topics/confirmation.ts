import type { Db } from '../../db/connect.ts';
import { Template } from '../../db/models/template.ts';
import type { Violation } from '../../platform/errors.ts';

export const REMINDER_HOURS = 48;
export const EXPIRY_HOURS = 168;
const MAX_HOURS = 2_160;
/** Outside production, so that reminder and expiry can be rehearsed. */
const MIN_FRACTION = 0.001;

export interface ConfirmationHours {
  reminderAfterHours: number | null;
  expiresAfterHours: number;
}

const USES_CONFIRM_URL = /\{\{[^}]*\bconfirmUrl\b/;

/** Whether a template can be a confirmation email. */
export const canConfirm = ({ type, body }: Pick<Template, 'type' | 'body'>): boolean =>
  type === 'TRANSACTIONAL' && USES_CONFIRM_URL.test(body);

/** Returns what is wrong with hours; `prefix` leads to them in the request. */
export function hoursViolations(hours: ConfirmationHours, production: boolean, prefix = ''): Violation[] {
  const { reminderAfterHours: reminder, expiresAfterHours: expiry } = hours;
  const refuse = (name: keyof ConfirmationHours, rule: string): Violation => ({
    field: `${prefix}${name}`,
    message: `"${prefix}${name}" ${rule}`,
    code: 'custom',
  });
  const given = [
    ['reminderAfterHours', reminder],
    ['expiresAfterHours', expiry],
  ] as const;
  for (const [name, value] of given) {
    if (value === null) continue;
    if (production && !Number.isInteger(value)) return [refuse(name, 'must be a whole number of hours')];
    if (value < (production ? 1 : MIN_FRACTION) || value > MAX_HOURS)
      return [refuse(name, `must be from ${production ? 1 : MIN_FRACTION} to ${MAX_HOURS}`)];
  }
  if (reminder !== null && reminder >= expiry)
    return [refuse('reminderAfterHours', 'must be less than "expiresAfterHours"')];
  return [];
}

/** Finds the template of confirmation emails; locks it, so that it is not deleted meanwhile. */
export async function findConfirmationTemplate(
  trx: Db,
  projectId: string,
  id: string,
  field: string,
): Promise<{ template?: Template; violations: Violation[] }> {
  const refuse = (rule: string): { violations: Violation[] } => ({
    violations: [{ field, message: `"${field}" ${rule}`, code: 'custom' }],
  });
  const template = await Template.query(trx).findOne({ projectId, id }).forShare();
  if (!template) return refuse('names no template of this project');
  if (!canConfirm(template)) return refuse('must name a TRANSACTIONAL template with {{confirmUrl}}');
  return { template, violations: [] };
}
