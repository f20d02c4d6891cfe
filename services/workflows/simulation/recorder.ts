import type { Db } from '../../../db/connect.ts';
import { Execution } from '../../../db/models/execution.ts';
import { Project } from '../../../db/models/project.ts';
import { Segment } from '../../../db/models/segment.ts';
import { Workflow } from '../../../db/models/workflow.ts';
import { statement } from '../../../db/statement.ts';
import type { Limits } from '../../../platform/limits.ts';
import { plainMail, type Renderer } from '../../../platform/templates/index.ts';
import { NO_EMAIL_COUNTS } from '../../conditions/email-facts.ts';
import { type Explanation, explain, type FilterResult } from '../../conditions/explain.ts';
import { loadFacts } from '../../conditions/facts.ts';
import { resolveCondition, staticSegmentsOf } from '../../conditions/resolve.ts';
import type { ParsedCondition } from '../../conditions/types.ts';
import { mergedTooLarge } from '../../contacts/data.ts';
import { dataKeysViolation } from '../../contacts/limits.ts';
import { refusalOfMembers } from '../../segments/change-member.ts';
import { footerFor } from '../../templates/footer.ts';
import { variablesOf } from '../../templates/variables.ts';
import { findChosenTopics } from '../../topics/find.ts';
import { findMailTopic, topicName } from '../../topics/in-mail.ts';
import { MAY_NOT_ENTER, refusalOfStart } from '../executions/start-by-step.ts';
import { planStepEmail } from '../send-step-email.ts';
import { renderText, timezoneOf } from '../step-environment.ts';
import type { MailResult, StartedWorkflow, StepEnvironment, StepMail } from '../steps/step-type.ts';
import type { SimulationState } from './state.ts';

export interface SimulatedEmail {
  templateId: string;
  to: string;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  /** Null, like the text, when the answer had no room for it. */
  html: string | null;
  text: string | null;
}

export interface SimulationEnvironment {
  db: Db;
  renderer: Pick<Renderer, 'render'>;
  projectId: string;
  workflow: { id: string; name: string };
  executionId: string;
  /** The contact is stored, so its past events count. */
  isReal: boolean;
  baseUrl: string;
  limits?: Limits | undefined;
}

const isMember = statement(
  'segment-is-member',
  'select 1 from segment_members where segment_id = $1 and contact_id = $2',
);

/** Records what a simulated step does. */
export class Recorder {
  email: SimulatedEmail | undefined;
  filters: FilterResult[] | undefined;
  private readonly environment: SimulationEnvironment;
  private readonly state: SimulationState;

  constructor(environment: SimulationEnvironment, state: SimulationState) {
    this.environment = environment;
    this.state = state;
  }

  get env(): StepEnvironment {
    const { workflow, executionId } = this.environment;
    const { now, contact, context } = this.state;
    return {
      now,
      contact,
      context,
      workflow,
      execution: { id: executionId },
      sendEmail: (mail) => this.sendEmail(mail),
      updateContact: async (change) => {
        const violation = this.environment.limits && dataKeysViolation(change.data, this.environment.limits);
        if (violation) return { refused: violation.message };
        const size = Buffer.byteLength(JSON.stringify({ ...contact.data, ...change.data }));
        if (size > MAX_DATA_BYTES) return { refused: mergedTooLarge.message };
        const { db, projectId } = this.environment;
        const { faults } = await findChosenTopics(db, projectId, change.topics ?? {});
        if (faults[0] !== undefined) return { refused: `cannot change ${faults[0]}` };
        this.state.change(change, now);
        if (change.topics) this.state.choose(change.topics, now);
        return {};
      },
      decide: (condition) => this.decide(condition),
      changeSegment: (segmentId, member) => this.changeSegment(segmentId, member),
      startWorkflow: (workflowId) => this.startWorkflow(workflowId),
      projectTimezone: () => timezoneOf(this.environment.db, this.environment.projectId),
      render: async (texts) => {
        const item = await this.variables({ event: context });
        return Promise.all(texts.map((text) => renderText(this.environment.renderer, text, item)));
      },
    };
  }

  private async sendEmail(mail: StepMail): Promise<MailResult> {
    const { db, renderer, projectId } = this.environment;
    const { contact, context } = this.state;
    const plan = await planStepEmail(db, { projectId, contact, topics: this.state.topics }, mail);
    if (!('template' in plan)) return plan;
    const { template, from } = plan;
    const topic = await findMailTopic(db, projectId, template.topicId);
    const language = await this.language();
    const name = topic && topicName(topic, contact.data.locale, language);
    const item = await this.variables({ passing: { event: context }, event: context, topicName: name });
    const footer = template.type === 'MARKETING' ? footerFor(item.data.locale, language, template.body, name) : '';
    const sources = { subject: template.subject, html: template.body };
    const [rendered] = await renderer.render({ ...sources, items: [{ ...item, footer }] });
    const texts = rendered?.ok ? rendered : plainMail({ ...sources, html: sources.html + footer }, item);
    this.email = {
      templateId: template.id,
      to: mail.to ?? contact.email,
      from,
      fromName: mail.fromName ?? template.fromName,
      replyTo: mail.replyTo ?? template.replyTo,
      subject: texts.subject,
      html: texts.html,
      text: rendered?.ok ? rendered.text : null,
    };
    return { emailId: 'simulated' };
  }

  private async changeSegment(id: string, member: boolean): Promise<{ changed?: boolean; refused?: string }> {
    const { db, projectId, isReal } = this.environment;
    const { contact, segmentChanges, now } = this.state;
    const segment = await Segment.query(db).findOne({ projectId, id });
    const refused = refusalOfMembers(segment);
    if (!segment || refused) return { refused: refused ?? '' };
    const stored = isReal && (await isMember(db, [id, contact.id])).length > 0;
    const changed = (segmentChanges.get(id) ?? stored) !== member;
    segmentChanges.set(id, member);
    if (changed && segment.trackMembership) {
      const data = { segmentId: id, segmentName: segment.name };
      this.state.record(`segment.${segment.slug}.${member ? 'entry' : 'exit'}`, data, now);
    }
    return { changed };
  }

  /** Whether the contact could enter the other workflow now. */
  private async startWorkflow(id: string): Promise<StartedWorkflow> {
    const { db, projectId, isReal } = this.environment;
    const { contact, startedWorkflows } = this.state;
    const workflow = await Workflow.query(db).findOne({ projectId, id });
    const refusal = refusalOfStart(workflow, 0);
    if (refusal) return refusal;
    const earlier = Execution.query(db).findOne({ projectId, workflowId: id, contactId: contact.id }).select('id');
    if (workflow?.allowReentry) earlier.whereIn('status', ['RUNNING', 'WAITING']);
    const isIn = startedWorkflows.has(id) || id === this.environment.workflow.id || (isReal && (await earlier));
    if (isIn) return { skipped: MAY_NOT_ENTER };
    startedWorkflows.add(id);
    return { executionId: 'simulated' };
  }

  private async decide(parsed: ParsedCondition): Promise<Explanation> {
    const { db, projectId, isReal } = this.environment;
    const { now, contact, context, recorded } = this.state;
    const resolved = await resolveCondition(db, projectId, parsed);
    const { uses, segments, timeZone } = resolved;
    const segmentIds = staticSegmentsOf(resolved);
    const wanted = { projectId, contactIds: [contact.id], uses, segmentIds, now, timeZone };
    const known = isReal ? (await loadFacts(db, wanted)).get(contact.id) : undefined;
    const staticSegments = new Set(known?.staticSegments);
    for (const [id, member] of this.state.segmentChanges) staticSegments[member ? 'add' : 'delete'](id);
    const past = (known?.events ?? []).filter(({ createdAt }) => createdAt <= now);
    const explanation = explain(resolved.condition, {
      contact,
      context,
      now,
      segments,
      timeZone,
      staticSegments,
      topics: this.state.topics,
      emails: known?.emails ?? NO_EMAIL_COUNTS,
      events: [...past, ...recorded],
    });
    this.filters = explanation.filters;
    return explanation;
  }

  private async variables(sources: { passing?: { event: unknown }; event?: unknown; topicName?: string | undefined }) {
    const { baseUrl } = this.environment;
    const page = (name: string) => `${baseUrl}/${name}/simulated`;
    // Placeholders: pages of the contact need a mail that was sent.
    const links = {
      unsubscribeUrl: page('unsubscribe'),
      unsubscribeAllUrl: `${page('unsubscribe')}?all=1`,
      subscribeUrl: page('subscribe'),
      manageUrl: page('manage'),
    };
    return variablesOf({ contact: this.state.contact, links, language: await this.language(), ...sources });
  }

  private async language(): Promise<string> {
    const { db, projectId } = this.environment;
    return (await Project.query(db).findById(projectId))?.language ?? 'en';
  }
}

/** The database's limit for the data of a contact. */
const MAX_DATA_BYTES = 128 * 1024;
