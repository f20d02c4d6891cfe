import { Cron } from 'croner';
import type { Db } from '../../db/connect.ts';
import type { TriggerConfig, TriggerType, Workflow } from '../../db/models/workflow.ts';
import { type Fault, validationError } from '../../platform/errors.ts';
import { findSegment } from '../segments/find.ts';

export { triggerTypes } from '../../db/models/workflow.ts';

export interface TriggerChange {
  triggerType?: TriggerType | undefined;
  triggerConfig?: TriggerConfig | undefined;
}

type Trigger = Pick<Workflow, 'triggerType' | 'triggerConfig'>;

/** What starts a workflow from now on. What is missing in it is found on enabling. */
export async function readTrigger(db: Db, workflow: Workflow, change: TriggerChange): Promise<Trigger> {
  const triggerType = change.triggerType ?? workflow.triggerType;
  const triggerConfig = change.triggerConfig ?? workflow.triggerConfig;
  // What another type of trigger did not look at is looked at when the type changes.
  if (!change.triggerConfig && triggerType === workflow.triggerType) return { triggerType, triggerConfig };
  if (triggerType !== 'SCHEDULE') return { triggerType, triggerConfig };
  const faults = scheduleFaults(triggerConfig);
  if (faults.length > 0) throw validationError(faults);
  const { segmentId } = triggerConfig;
  if (segmentId) await findSegment(db, workflow.projectId, segmentId);
  return { triggerType, triggerConfig: { ...triggerConfig, timezone: triggerConfig.timezone ?? 'UTC' } };
}

function scheduleFaults({ cron, timezone = 'UTC' }: TriggerConfig): Fault[] {
  const faults: Fault[] = [];
  const tell = (key: keyof TriggerConfig, message: string) =>
    faults.push({
      field: `triggerConfig.${key}`,
      message: `"triggerConfig.${key}" ${message}`,
      code: 'invalid_string',
    });
  if (!isTimezone(timezone)) tell('timezone', 'must be the name of a time zone, such as Europe/Berlin');
  if (cron !== undefined && !isCron(cron))
    tell('cron', 'must be a cron expression of five fields that comes true some day');
  return faults;
}

function isTimezone(name: string): boolean {
  // Newer versions of Node take `+02:00` too, which Temporal does not.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Five fields, as Temporal reads them too: names of months and days, but not `L` and `W`, which only some know. */
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
