import { basics } from './basics.ts';
import { details } from './details.ts';

/** Of the pages that most visits begin with; they wait for no other texts. */
export const everyday = { ...basics, ...details };
