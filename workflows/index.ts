export { delivery } from './delivery.ts';
export { job } from './job.ts';
