import joi from 'joi';
import type { Db } from '../../../db/connect.ts';
import type { TemplateType } from '../../../db/models/template.ts';
import { Topic } from '../../../db/models/topic.ts';
import { addressRule, readMailbox, UNSAFE_IN_LINE } from '../../../platform/address.ts';
import { linkToRow } from '../../../platform/tracing.ts';
import { requireVerifiedSender } from '../../domains/verified-sender.ts';
import { kindOf } from '../../topics/find.ts';
import { isTopicRequired } from '../../topics/required.ts';
import { failStep, leaveBy, type Step, type StepType, skip } from './step-type.ts';

export interface SendEmailConfig {
  templateId?: string | null;
  /** Wins over the template's. */
  topicId?: string | null;
  from?: string | null;
  fromName?: string | null;
  replyTo?: string | null;
  recipient?: { type: 'CONTACT' | 'CUSTOM'; email?: string | null } | null;
}

export const sendEmailStep: StepType<SendEmailConfig> = {
  type: 'SEND_EMAIL',
  label: 'Send email',
  description: 'Sends a template to the contact, or to another address.',
  exits: ['next'],
  runsUnlocked: true,
  config: joi
    .object({
      templateId: joi.string().guid({ separator: '-', wrapper: false }).allow(null),
      topicId: joi.string().guid({ separator: '-', wrapper: false }).allow(null),
      from: joi.string().min(0).custom(mailbox).allow(null),
      fromName: joi.string().max(255).pattern(UNSAFE_IN_LINE, { invert: true }).allow('', null),
      replyTo: addressRule().allow(null),
      recipient: joi
        .object({ type: joi.string().valid('CONTACT', 'CUSTOM').required(), email: addressRule().allow(null) })
        .unknown()
        .allow(null),
    })
    .unknown()
    .custom(withName),
  referenceErrors: async (db, projectId, { from }, before) => {
    if (typeof from === 'string' && from !== before?.from) await requireVerifiedSender(db, projectId, from);
    return [];
  },
  violations: (step) => {
    const { recipient } = step.config;
    return [
      ...(templateOf(step) ? [] : ['has no template']),
      ...(recipient?.type === 'CUSTOM' && !recipient.email ? ['has no recipient'] : []),
    ];
  },
  referenceViolations: async (step, { db, projectId, templates }) => {
    const templateId = templateOf(step);
    if (!templateId) return [];
    const template = templates.get(templateId);
    if (!template) return ['uses a template that does not exist'];
    return [
      ...(template.fromEmail || step.config.from ? [] : ['has no sender: set one on the step or its template']),
      ...(await topicFaults(db, projectId, template.type, step.config.topicId ?? template.topicId)),
    ];
  },
  uses: (step) => ({ templates: [templateOf(step) ?? []].flat() }),
  run: async (step, env) => {
    const { from, fromName, replyTo, recipient, topicId } = step.config;
    const templateId = templateOf(step);
    if (!templateId) return failStep('the step has no template');
    const result = await env.sendEmail({
      templateId,
      topicId: topicId ?? undefined,
      from: from ?? undefined,
      fromName: fromName || undefined,
      replyTo: replyTo ?? undefined,
      to: recipient?.type === 'CUSTOM' ? (recipient.email ?? undefined) : undefined,
    });
    if ('failed' in result) return failStep(result.failed);
    if ('skipped' in result) return skip(result.skipped);
    linkToRow(result.emailId);
    return leaveBy('next', { emailId: result.emailId });
  },
};

/** The config's template wins over the one beside it. */
const templateOf = ({ templateId, config }: Step<SendEmailConfig>): string | undefined =>
  config.templateId ?? templateId ?? undefined;

/** Returns what is wrong about the topic of a step's email. */
async function topicFaults(db: Db, projectId: string, type: TemplateType, id: string | null): Promise<string[]> {
  if (id === null)
    return type !== 'TRANSACTIONAL' && (await isTopicRequired(db, projectId))
      ? [`has no topic, which the project requires for ${type} templates`]
      : [];
  const topic = await Topic.query(db).findOne({ projectId, id });
  if (!topic) return ['uses a topic that does not exist'];
  if (topic.archived) return ['uses a topic that is archived'];
  return topic.kind === kindOf(type) ? [] : [`uses a topic of kind ${topic.kind} with a ${type} template`];
}

function mailbox(text: string, helpers: joi.CustomHelpers) {
  return readMailbox(text) ? text : helpers.error('string.email');
}

/** Splits `Name <address>` into `from` and `fromName`. */
function withName(config: SendEmailConfig): SendEmailConfig {
  const { email, name } = readMailbox(config.from ?? '') ?? {};
  if (email === undefined) return config;
  return { ...config, from: email, ...(name !== undefined && !config.fromName && { fromName: name }) };
}
