import joi from 'joi';
import { type Data, exceededLimit, readData } from '../../contacts/data.ts';
import { failStep, leaveBy, type StepType } from './step-type.ts';

export interface UpdateContactConfig {
  data?: Data;
  /** An alias of `data`, which wins. */
  updates?: Data;
  subscribed?: boolean;
}

export const updateContactStep: StepType<UpdateContactConfig> = {
  type: 'UPDATE_CONTACT',
  label: 'Update contact',
  description: 'Updates custom fields or the subscription of the contact.',
  exits: ['next'],
  runsUnlocked: true,
  config: joi
    .object({ data: joi.object().unknown(), updates: joi.object().unknown(), subscribed: joi.boolean().strict() })
    .unknown(),
  configErrors: (config) => {
    const broken = exceededLimit(dataOf(config));
    return broken ? [{ field: 'data', message: `"data" ${broken}`, code: 'too_big' }] : [];
  },
  violations: ({ config }) =>
    Object.keys(dataOf(config)).length === 0 && config.subscribed === undefined ? ['changes nothing'] : [],
  uses: ({ config }) => {
    const { patch, deletes } = readData(dataOf(config));
    return { fields: [...Object.keys(patch), ...deletes].map((key) => `data.${key}`) };
  },
  run: async ({ config }, env) => {
    const { refused } = await env.updateContact({ data: dataOf(config), subscribed: config.subscribed });
    return refused ? failStep(refused) : leaveBy('next');
  },
};

const dataOf = ({ data, updates }: UpdateContactConfig): Data => ({ ...updates, ...data });
