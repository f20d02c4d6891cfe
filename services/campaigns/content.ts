import { setImmediate as immediate } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Project } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { MailSkeleton, type SendOutcome, type WireMail } from '../../platform/mailer.ts';
import { plainMail, type Renderer, type RenderItem } from '../../platform/renderer/index.ts';
import type { Data } from '../contacts/data.ts';
import { senderDomain } from '../domains/name.ts';
import type { DeliveryDeps } from '../emails/deliver.ts';
import { type DressedMail, dressHeaders, dressHtml } from '../emails/dress.ts';
import type { MailLinks } from '../emails/links.ts';
import { footerFor } from '../templates/footer.ts';
import { variablesOf } from '../templates/variables.ts';

/** Takes about half a millisecond. */
const AT_ONCE = 4;

type Refused = Extract<SendOutcome, { kind: 'refused' }>;

/** A mail of a campaign, ready for the wire. */
export interface ReadyMail {
  id: string;
  /** Where it goes. Without one there is nobody left to send it to, which the ledger will say. */
  to: string | null;
  /** What the subject became; null where it has no variables. */
  subject: string | null;
  mail: WireMail | Refused;
}

interface RecipientRow {
  id: string;
  contact_id: string;
  email: string | null;
  subscribed: boolean;
  created_at: Date;
  data: Data;
}

type Recipient = RecipientRow & { email: string };

const recipients = statement<RecipientRow>(
  'campaign-contents',
  `select e.id, e.contact_id, k.email, k.subscribed, k.created_at, k.data
   from unnest($1::uuid[]) as asked (id) join emails e on e.id = asked.id
   left join contacts k on k.id = e.contact_id`,
);

export interface ContentDeps {
  db: Db;
  renderer: Renderer;
  links: MailLinks;
  signerFor?: DeliveryDeps['signerFor'];
}

type Sender = Pick<Project, 'language' | 'tracking'>;

/** The one body of a campaign, and the mails that are made from it. */
export class CampaignContent {
  private readonly deps: ContentDeps;
  private readonly campaign: Campaign;
  private readonly project: Sender;
  private readonly skeleton: MailSkeleton;

  private constructor(deps: ContentDeps, campaign: Campaign, project: Sender, skeleton: MailSkeleton) {
    this.deps = deps;
    this.campaign = campaign;
    this.project = project;
    this.skeleton = skeleton;
  }

  static async of(deps: ContentDeps, campaign: Campaign): Promise<CampaignContent> {
    const { projectId, fromEmail, fromName, replyTo } = campaign;
    const project = await Project.query(deps.db).findById(projectId).select('language', 'tracking');
    const domain = senderDomain(fromEmail);
    const signer = await deps.signerFor?.(projectId, domain);
    const from = { email: fromEmail, name: fromName };
    const skeleton = new MailSkeleton({ from, replyTo, ...(signer && { dkim: { domain, ...signer } }) });
    return new CampaignContent(deps, campaign, project ?? { language: 'en', tracking: 'ENABLED' }, skeleton);
  }

  /** Reads, renders and writes some mails, in any order. */
  async prepare(ids: string[]): Promise<ReadyMail[]> {
    const rows = await recipients(this.deps.db, [ids]);
    const there = rows.filter(isThere);
    const items = there.map((row) => this.itemOf(row));
    const { subject, body: html } = this.campaign;
    const results = await this.deps.renderer.render({ subject, html, items });
    const ready: Promise<ReadyMail>[] = [];
    for (const [place, row] of there.entries()) {
      // Written in one go they would keep those who send from their connections.
      if (place % AT_ONCE === 0) await immediate();
      const [item, result] = [items[place] ?? this.itemOf(row), results[place]];
      // A template that asks for too much never fails a mail.
      const texts = result?.ok ? result : plainMail({ subject, html: html + (item.footer ?? '') }, item);
      ready.push(this.write(row, item, texts));
    }
    const gone = rows.filter((row) => !isThere(row));
    return [...(await Promise.all(ready)), ...gone.map(({ id }) => ({ id, to: null, subject: null, mail: nobody }))];
  }

  /** What is rendered: the variables of a mail, and the footer where it has one. */
  private itemOf({ id: emailId, contact_id: contactId, email, subscribed, created_at, data }: Recipient): RenderItem {
    const { language } = this.project;
    const variables = variablesOf({
      contact: { id: contactId, email, subscribed, createdAt: created_at, data },
      links: this.deps.links.contactLinks({ contactId, emailId }),
      language,
    });
    if (this.campaign.type !== 'MARKETING') return variables;
    return { ...variables, footer: footerFor(data.locale, language) };
  }

  private async write(row: Recipient, item: RenderItem, texts: Texts): Promise<ReadyMail> {
    const { id, email } = row;
    const { subject, html, text } = texts;
    const dressed = this.dressed(id, String(item.builtIn.unsubscribeUrl));
    const mail = await this.skeleton
      .compose({
        id,
        to: { email },
        subject,
        html: dressHtml(this.deps.links, dressed, html),
        ...(text && { text }),
        ...dressHeaders(this.deps.links, dressed, html),
      })
      .catch((error: Error) => ({ kind: 'refused', reason: `cannot be written as a mail: ${error.message}` }) as const);
    return { id, to: email, subject: subject === this.campaign.subject ? null : subject, mail };
  }

  private dressed(id: string, unsubscribeUrl: string): DressedMail {
    const { id: campaignId, projectId, type, fromEmail: from } = this.campaign;
    const { tracking } = this.project;
    return { id, projectId, sourceType: 'CAMPAIGN', campaignId, type, from, tracking, headers: null, unsubscribeUrl };
  }
}

interface Texts {
  subject: string;
  html: string;
  text?: string;
}

const nobody: Refused = { kind: 'refused', reason: 'its recipient is gone' };

const isThere = (row: RecipientRow): row is Recipient => row.email !== null;
