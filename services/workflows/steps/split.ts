import { createHash } from 'node:crypto';
import joi from 'joi';
import { failStep, leaveBy, MAX_BRANCH_LENGTH, type StepType } from './step-type.ts';

export interface SplitConfig {
  branches?: { name: string; weight: number }[];
}

const MIN_BRANCHES = 2;
const MAX_BRANCHES = 10;

export const splitStep: StepType<SplitConfig> = {
  type: 'SPLIT',
  label: 'Split',
  description: 'Assigns each contact at random to one of several branches, always to the same one.',
  exits: [],
  exitsOf: ({ branches = [] }) => branches.map(({ name }) => name),
  runsUnlocked: true,
  config: joi
    .object({
      branches: joi
        .array()
        .items(
          joi
            .object({
              // `next` is the name of the exit without a branch.
              name: joi.string().trim().max(MAX_BRANCH_LENGTH).invalid('next').required(),
              weight: joi.number().min(0).max(1_000_000).required(),
            })
            .unknown(),
        )
        .max(MAX_BRANCHES)
        .unique('name'),
    })
    .unknown(),
  newConfig: {
    branches: [
      { name: 'A', weight: 50 },
      { name: 'B', weight: 50 },
    ],
  },
  violations: ({ config: { branches = [] } }) => {
    if (branches.length < MIN_BRANCHES) return [`needs at least ${MIN_BRANCHES} branches`];
    return branches.some(({ weight }) => weight > 0) ? [] : ['needs a branch with a weight above 0'];
  },
  run: ({ id, config: { branches = [] } }, { contact }) => {
    const total = branches.reduce((sum, { weight }) => sum + weight, 0);
    let rest = fractionOf(`${contact.id} ${id}`) * total;
    for (const { name, weight } of branches) {
      if (weight > 0 && rest < weight) return leaveBy(name);
      rest -= weight;
    }
    return failStep('the step needs a branch with a weight above 0');
  },
};

/** Returns a number from 0 to 1 that is the same for the same text. */
const fractionOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
