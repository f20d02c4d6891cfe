import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { Project } from '../../db/models/project.ts';
import { plainArray, statement } from '../../db/statement.ts';
import type { RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { senderDomain } from '../domains/name.ts';
import type { Signer } from '../domains/signing-key.ts';
import { bulkHeaders } from '../emails/bulk-headers.ts';
import type { MailLinks } from '../emails/links.ts';
import { footerFor } from '../templates/footer.ts';
import { variablesOf } from '../templates/variables.ts';
import type { SharedHead } from './compose-protocol.ts';

/** The variables with links to a contact's pages. The first alternative matches unsubscribeUrl as well. */
const CONTACT_LINKS = /subscribeUrl|manageUrl/;

interface RecipientRow {
  id: string;
  contact_id: string;
  /** Null if the contact is deleted. */
  email: string | null;
  subscribed: boolean;
  created_at: Date;
  data: Data;
}

export type CampaignRecipient = RecipientRow & { email: string };

const readRows = statement<RecipientRow>(
  'campaign-recipients',
  `select e.id, e.contact_id, k.email, k.subscribed, k.created_at, k.data
   from unnest((select $1::uuid[])) as asked (id) join emails e on e.id = asked.id
   left join contacts k on k.id = e.contact_id`,
);

/** Reads the recipients of mails. Those whose contact is deleted are left out. */
export async function readRecipients(db: Db, ids: string[]): Promise<CampaignRecipient[]> {
  return (await readRows(db, [plainArray(ids)])).filter((row): row is CampaignRecipient => row.email !== null);
}

/** The content of a campaign, as it was read once. */
export class CampaignContent {
  readonly campaign: Pick<Campaign, 'id' | 'projectId' | 'subject' | 'body' | 'type' | 'fromEmail'>;
  readonly senderDomain: string;
  private readonly language: string;
  private readonly unsigned: SharedHead;
  /** Saves signing these links for each mail: most bodies that are not MARKETING use none. */
  private readonly hasContactLinks: boolean;
  private signed: { signer: Signer; head: SharedHead } | undefined;

  private constructor(campaign: Campaign, project: Pick<Project, 'language' | 'tracking'> | undefined) {
    const { id: campaignId, projectId, type, subject, body, fromEmail, fromName, replyTo } = campaign;
    this.campaign = campaign;
    this.senderDomain = senderDomain(fromEmail);
    this.language = project?.language ?? 'en';
    this.hasContactLinks = type === 'MARKETING' || CONTACT_LINKS.test(subject) || CONTACT_LINKS.test(body);
    this.unsigned = {
      projectId,
      type,
      tracking: project?.tracking ?? 'ENABLED',
      from: { email: fromEmail, name: fromName },
      replyTo,
      headers: bulkHeaders({ projectId, campaignId, from: fromEmail }),
      dkim: undefined,
    };
  }

  /** Returns undefined for a campaign that is deleted. */
  static async read(db: Db, id: string): Promise<CampaignContent | undefined> {
    const campaign = await Campaign.query(db).findById(id);
    if (!campaign) return undefined;
    const project = await Project.query(db).findById(campaign.projectId).select('language', 'tracking');
    return new CampaignContent(campaign, project);
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
    const { id: emailId, contact_id: contactId, email, subscribed, created_at, data } = row;
    const variables = variablesOf({
      contact: { id: contactId, email, subscribed, createdAt: created_at, data },
      ...(this.hasContactLinks && { links: links.contactLinks({ contactId, emailId }) }),
      language: this.language,
    });
    if (this.campaign.type !== 'MARKETING') return variables;
    return { ...variables, footer: footerFor(data.locale, this.language) };
  }
}
