import type { Texts } from '../index.ts';
import { activity } from './activity.ts';
import { analytics } from './analytics.ts';
import { common } from './common.ts';
import { developers } from './developers.ts';
import { events } from './events.ts';
import { everyday } from './everyday.ts';
import { jobs } from './jobs.ts';
import { notifications } from './notifications.ts';
import { audit, billing, members, operator, project, security } from './people.ts';
import { suppressions } from './suppressions.ts';
import { webhooks } from './webhooks.ts';

export const de: Omit<Texts, 'canvas' | 'playback' | 'workflows'> = {
  ...common,
  ...everyday,
  activity,
  analytics,
  notifications,
  suppressions,
  webhooks,
  developers,
  events,
  jobs,
  members,
  project,
  billing,
  security,
  audit,
  operator,
};
