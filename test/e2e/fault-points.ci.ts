import { crashCases, crashTests, isUsualCrash } from '../support/crashes-at-fault-points.ts';

describe('a crash at any other fault point', crashTests(crashCases.filter((crash) => !isUsualCrash(crash))));
