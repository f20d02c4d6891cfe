import type { AllParts, DetailTopic, Texts } from '../index.ts';
import { activity } from './activity.ts';
import { analytics } from './analytics.ts';
import { basics } from './basics.ts';
import { common } from './common.ts';
import { developers } from './developers.ts';
import { events } from './events.ts';
import { jobs } from './jobs.ts';
import { notifications } from './notifications.ts';
import { billing, members, operator, project, security } from './people.ts';
import { requestLog } from './request-log.ts';
import { suppressions } from './suppressions.ts';
import { webhooks } from './webhooks.ts';

export const de: Omit<Texts, keyof AllParts | DetailTopic> = {
  ...common,
  ...basics,
  activity,
  analytics,
  notifications,
  suppressions,
  webhooks,
  developers,
  requestLog,
  events,
  jobs,
  members,
  project,
  billing,
  security,
  operator,
};
