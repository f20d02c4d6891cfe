import { growthTests } from '../support/growth-tests.ts';

describe('text processing takes linear time with all other fillers', growthTests('others'));
