import type { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';

/** What determines whether a mail is tracked. */
export interface TrackingRule {
  type: TemplateType;
  /** The project's setting; null means ENABLED. */
  tracking: Project['tracking'] | null;
  /** Set for mail that is never tracked, such as a campaign's test mail. */
  untracked?: boolean | undefined;
}

export const isTracked = ({ tracking, type, untracked }: TrackingRule): boolean =>
  !untracked && tracking !== 'DISABLED' && (tracking !== 'MARKETING_ONLY' || type === 'MARKETING');
