import type { Texts } from '../index.ts';
import { common } from './common.ts';
import { developers } from './developers.ts';
import { events } from './events.ts';
import { everyday } from './everyday.ts';
import { jobs } from './jobs.ts';
import { suppressions } from './suppressions.ts';
import { webhooks } from './webhooks.ts';

export const de: Texts = {
  ...common,
  ...everyday,
  suppressions,
  webhooks,
  developers,
  events,
  jobs,
};
