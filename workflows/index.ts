export { delivery } from './delivery.ts';
export { domain } from './domain.ts';
export { job } from './job.ts';
export { segmentSweep } from './schedules.ts';
