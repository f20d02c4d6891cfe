export { faultsOf, fieldOf, refuse } from '../../platform/joi-faults.ts';
