export { documented, faultsOf, fieldPath, refuse } from '../../platform/joi-violations.ts';
