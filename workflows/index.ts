export { campaign } from './campaign.ts';
export { cronTick } from './cron-tick.ts';
export { domain } from './domain.ts';
export { erasure } from './erasure.ts';
export { execution } from './execution.ts';
export { job } from './job.ts';
export { formTimer, reconciler, retention, segmentSweep } from './schedules.ts';
export { sender } from './sender.ts';
export { webhookEndpoint } from './webhook-endpoint.ts';
