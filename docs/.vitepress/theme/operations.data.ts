// The operations of the API, for `OperationList`.
import { type ListedPage, listedPages } from '../reference.ts';

declare const data: ListedPage[];

export { data };

export default { load: listedPages };
