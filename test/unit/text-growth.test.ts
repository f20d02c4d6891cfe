import { growthTests } from '../support/growth-tests.ts';

describe('text processing takes linear time', growthTests('every twelfth'));
