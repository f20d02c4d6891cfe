import type { Workflow } from '../../api/types.ts';
import { valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { enteredSegment } from './steps.ts';

/** Says when executions start. */
export function triggerText({ triggerType, triggerConfig }: Pick<Workflow, 'triggerType' | 'triggerConfig'>): string {
  const { triggers } = t.workflows;
  const slug = enteredSegment({ triggerType, triggerConfig });
  if (slug !== undefined) return triggers.SEGMENT(slug);
  if (triggerType === 'EVENT') return triggers.EVENT(valueText(triggerConfig.eventName));
  if (triggerType === 'SCHEDULE') return triggers.SCHEDULE(valueText(triggerConfig.cron));
  return triggers.MANUAL;
}
