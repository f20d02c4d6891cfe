import joi from 'joi';
import { type TopicDefault, topicDefaults } from '../../../db/models/topic.ts';
import { type Data, exceededLimit, readData } from '../../contacts/data.ts';
import { findChosenTopics } from '../../topics/find.ts';
import { failStep, leaveBy, type StepType } from './step-type.ts';

const MAX_TOPICS = 100;

export interface UpdateContactConfig {
  data?: Data;
  /** An alias of `data`, which wins. */
  updates?: Data;
  subscribed?: boolean;
  /** States by key or id of the topic. */
  topics?: Record<string, TopicDefault>;
}

export const updateContactStep: StepType<UpdateContactConfig> = {
  type: 'UPDATE_CONTACT',
  label: 'Update contact',
  description: 'Updates custom fields or the subscription of the contact.',
  exits: ['next'],
  runsUnlocked: true,
  config: joi
    .object({
      data: joi.object().unknown(),
      updates: joi.object().unknown(),
      subscribed: joi.boolean().strict(),
      topics: joi
        .object()
        .pattern(/^/, joi.string().valid(...topicDefaults))
        .max(MAX_TOPICS),
    })
    .unknown(),
  configErrors: (config) => {
    const broken = exceededLimit(dataOf(config));
    return broken ? [{ field: 'data', message: `"data" ${broken}`, code: 'too_big' }] : [];
  },
  violations: ({ config }) =>
    Object.keys(dataOf(config)).length === 0 && config.subscribed === undefined && namesOf(config).length === 0
      ? ['changes nothing']
      : [],
  referenceViolations: async ({ config }, { db, projectId }) => {
    const { faults } = await findChosenTopics(db, projectId, config.topics ?? {});
    return faults.map((fault) => `changes ${fault}`);
  },
  uses: ({ config }) => {
    const { patch, deletes } = readData(dataOf(config));
    return { fields: [...Object.keys(patch), ...deletes].map((key) => `data.${key}`) };
  },
  run: async ({ config }, env) => {
    const { refused } = await env.updateContact({
      data: dataOf(config),
      subscribed: config.subscribed,
      topics: config.topics,
    });
    return refused ? failStep(refused) : leaveBy('next');
  },
};

const namesOf = ({ topics }: UpdateContactConfig): string[] => Object.keys(topics ?? {});

const dataOf = ({ data, updates }: UpdateContactConfig): Data => ({ ...updates, ...data });
