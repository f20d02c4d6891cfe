export { delivery } from './delivery.ts';
