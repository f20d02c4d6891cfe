export { delivery } from './delivery.ts';
export { domain } from './domain.ts';
export { erasure } from './erasure.ts';
export { job } from './job.ts';
export { segmentSweep } from './schedules.ts';
