export { faultsOf, fieldOf, refuse } from '../../platform/joi-violations.ts';
