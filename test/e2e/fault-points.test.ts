import { crashCases, crashTests, isUsualCrash } from '../support/crashes-at-fault-points.ts';

describe('a crash at a fault point', crashTests(crashCases.filter(isUsualCrash)));
