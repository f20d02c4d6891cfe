export { delivery } from './delivery.ts';
export { job } from './job.ts';
export { segmentSweep } from './schedules.ts';
