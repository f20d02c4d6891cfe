import { Cron } from 'croner';
import type { Db } from '../../db/connect.ts';
import type { TriggerConfig, TriggerType, Workflow } from '../../db/models/workflow.ts';
import { type Violation, validationError } from '../../platform/errors.ts';
import { isTimezone } from '../../platform/time-zones.ts';
import { findSegment } from '../segments/find.ts';

export { triggerTypes } from '../../db/models/workflow.ts';

export interface TriggerChange {
  triggerType?: TriggerType | undefined;
  triggerConfig?: TriggerConfig | undefined;
}

export type Trigger = Pick<Workflow, 'triggerType' | 'triggerConfig'>;

/** Returns the changed trigger. Missing values are reported on enabling. */
export async function readTrigger(
  db: Db,
  workflow: Trigger & Pick<Workflow, 'projectId'>,
  change: TriggerChange,
): Promise<Trigger> {
  const triggerType = change.triggerType ?? workflow.triggerType;
  const triggerConfig = change.triggerConfig ?? workflow.triggerConfig;
  // A change of the type checks the config too: the other type may not have checked it.
  if (!change.triggerConfig && triggerType === workflow.triggerType) return { triggerType, triggerConfig };
  if (triggerType !== 'SCHEDULE') return { triggerType, triggerConfig };
  const errors = scheduleErrors(triggerConfig);
  if (errors.length > 0) throw validationError(errors);
  const { segmentId } = triggerConfig;
  if (segmentId) await findSegment(db, workflow.projectId, segmentId);
  return { triggerType, triggerConfig: { ...triggerConfig, timezone: triggerConfig.timezone ?? 'UTC' } };
}

function scheduleErrors({ cron, timezone = 'UTC' }: TriggerConfig): Violation[] {
  const errors: Violation[] = [];
  const add = (key: keyof TriggerConfig, message: string) =>
    errors.push({
      field: `triggerConfig.${key}`,
      message: `"triggerConfig.${key}" ${message}`,
      code: 'invalid_string',
    });
  if (!isTimezone(timezone)) add('timezone', 'must be a time zone name, such as Europe/Berlin');
  if (cron !== undefined && !isCron(cron))
    add('cron', 'must be a cron expression with five fields that matches some date');
  return errors;
}

/** A field as Temporal reads it: names of months and days, but not `L` and `W`, which only some parsers know. */
const PLAIN = /^[\d*,/-]*(?:[a-z]{3}[\d*,/-]*)*$/i;

export function isCron(expression: string): boolean {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5 || !fields.every((field) => PLAIN.test(field))) return false;
  try {
    return new Cron(expression.trim(), { paused: true, timezone: 'UTC' }).nextRun() !== null;
  } catch {
    return false;
  }
}
