import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { Project } from '../../db/models/project.ts';
import type { RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { senderDomain } from '../domains/name.ts';
import type { Signer } from '../domains/signing-key.ts';
import { bulkHeaders } from '../emails/bulk-headers.ts';
import { type MailLinks, type PageToken, withAllLink } from '../emails/links.ts';
import { footerFor } from '../templates/footer.ts';
import { variablesOf } from '../templates/variables.ts';
import { findMailTopic, type MailTopic, topicName } from '../topics/in-mail.ts';
import type { SharedHead } from './compose-protocol.ts';

/** The variables with links to a contact's pages. The first alternative matches unsubscribeUrl as well. */
const CONTACT_LINKS = /subscribeUrl|unsubscribeAllUrl|manageUrl/;
const MAX_LOCALES = 1_000;

/** A recipient of a campaign. */
export interface RecipientRow {
  /** The mail's. */
  id: string;
  contactId: string;
  /** Null if the contact is deleted. */
  email: string | null;
  subscribed: boolean;
  createdAt: Date;
  data: Data;
}

export type CampaignRecipient = RecipientRow & { email: string };

/** Leaves out those whose contact is deleted. */
export const reachable = (rows: RecipientRow[]): CampaignRecipient[] =>
  rows.filter((row): row is CampaignRecipient => row.email !== null);

/** The content of a campaign, as it was read once. */
export class CampaignContent {
  readonly campaign: Pick<Campaign, 'id' | 'projectId' | 'subject' | 'body' | 'type' | 'fromEmail'>;
  readonly senderDomain: string;
  private readonly language: string;
  private readonly unsigned: SharedHead;
  /** Saves signing these links for each mail: most bodies that are not MARKETING use none. */
  private readonly hasContactLinks: boolean;
  private readonly hasAllLink: boolean;
  private readonly topic: MailTopic | undefined;
  private readonly usesTopicName: boolean;
  /** By locale. */
  private readonly topicNames = new Map<string, string>();
  private signed: { signer: Signer; head: SharedHead } | undefined;

  private constructor(
    campaign: Campaign,
    project: Pick<Project, 'language' | 'tracking'> | undefined,
    topic: MailTopic | undefined,
  ) {
    const { id: campaignId, projectId, type, subject, body, fromEmail, fromName, replyTo } = campaign;
    this.campaign = campaign;
    this.senderDomain = senderDomain(fromEmail);
    this.language = project?.language ?? 'en';
    const mentions = (names: RegExp) => names.test(subject) || names.test(body);
    this.hasContactLinks = type === 'MARKETING' || topic !== undefined || mentions(CONTACT_LINKS);
    this.hasAllLink = mentions(/unsubscribeAllUrl/);
    this.usesTopicName = mentions(/topicName/);
    this.topic = topic;
    this.unsigned = {
      projectId,
      type,
      tracking: project?.tracking ?? 'ENABLED',
      from: { email: fromEmail, name: fromName },
      replyTo,
      headers: bulkHeaders({ projectId, campaignId, from: fromEmail, topic: topic?.key }),
      hasTopic: topic !== undefined,
      dkim: undefined,
    };
  }

  /** Returns undefined for a campaign that is deleted. */
  static async read(db: Db, id: string): Promise<CampaignContent | undefined> {
    const campaign = await Campaign.query(db).findById(id);
    if (!campaign) return undefined;
    const project = await Project.query(db).findById(campaign.projectId).select('language', 'tracking');
    return new CampaignContent(campaign, project, await findMailTopic(db, campaign.projectId, campaign.topicId));
  }

  /** Returns the same object while the key is the same. */
  headFor(signer: Signer | undefined): SharedHead {
    if (!signer) return this.unsigned;
    const { selector, privateKey } = signer;
    const last = this.signed?.signer;
    if (last?.selector !== selector || last.privateKey !== privateKey) {
      const dkim = { domain: this.senderDomain, selector, privateKey };
      this.signed = { signer, head: { ...this.unsigned, dkim } };
    }
    return this.signed?.head ?? this.unsigned;
  }

  /** Returns the input of rendering: the variables, and the footer of MARKETING mail. */
  renderItem(row: CampaignRecipient, links: MailLinks): RenderItem {
    const { id: emailId, contactId, email, subscribed, createdAt, data } = row;
    const name = this.topicName(data.locale);
    const variables = variablesOf({
      contact: { id: contactId, email, subscribed, createdAt, data },
      ...(this.hasContactLinks && { links: this.linksFor(links, { contactId, emailId }) }),
      topicName: this.usesTopicName ? name : undefined,
      language: this.language,
    });
    if (this.campaign.type !== 'MARKETING') return variables;
    return { ...variables, footer: footerFor(data.locale, this.language, this.campaign.body, name) };
  }

  private linksFor(links: MailLinks, token: PageToken) {
    const own = links.contactLinks(token);
    return this.hasAllLink ? withAllLink(own) : own;
  }

  private topicName(locale: unknown): string | undefined {
    if (!this.topic) return undefined;
    const key = typeof locale === 'string' ? locale : '';
    const known = this.topicNames.get(key);
    if (known !== undefined) return known;
    const name = topicName(this.topic, locale, this.language);
    if (this.topicNames.size < MAX_LOCALES) this.topicNames.set(key, name);
    return name;
  }
}
