import { crashTests } from '../support/crashes-at-fault-points.ts';

describe('a crash at a fault point of campaign mail', crashTests('campaign'));
