import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Project } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { MailSkeleton, type OutgoingMail, type WireMail } from '../../platform/mailer.ts';
import type { Renderer } from '../../platform/renderer/index.ts';
import type { Data } from '../contacts/data.ts';
import type { MailLinks } from '../emails/links.ts';
import { variablesOf } from '../templates/variables.ts';

/** A mail of a campaign, ready for the wire. */
export interface ReadyMail {
  id: string;
  /** Where it goes. Without one there is nobody left to send it to, which the ledger will say. */
  to: string | null;
  /** What the subject became; null where it has no variables. */
  subject: string | null;
  mail: WireMail | OutgoingMail | undefined;
}

interface RecipientRow {
  id: string;
  contact_id: string;
  email: string | null;
  subscribed: boolean;
  created_at: Date;
  data: Data;
}

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
}

/** The one body of a campaign, and the mails that are made from it. */
export class CampaignContent {
  private readonly deps: ContentDeps;
  private readonly campaign: Campaign;
  private readonly project: Pick<Project, 'language' | 'tracking'>;
  private readonly skeleton: MailSkeleton;

  private constructor(deps: ContentDeps, campaign: Campaign, project: Pick<Project, 'language' | 'tracking'>) {
    this.deps = deps;
    this.campaign = campaign;
    this.project = project;
    this.skeleton = new MailSkeleton(this.frame);
  }

  static async of(deps: ContentDeps, campaign: Campaign): Promise<CampaignContent> {
    const project = await Project.query(deps.db).findById(campaign.projectId).select('language', 'tracking');
    return new CampaignContent(deps, campaign, project ?? { language: 'en', tracking: 'ENABLED' });
  }

  /** Reads and renders some mails, in any order. */
  async prepare(ids: string[]): Promise<ReadyMail[]> {
    const rows = await recipients(this.deps.db, [ids]);
    const { subject, body: html } = this.campaign;
    const there = rows.filter(isThere);
    const results = await this.deps.renderer.render({ subject, html, items: there.map((row) => this.variables(row)) });
    const ready = there.map((row, place) => {
      const result = results[place];
      const texts = result?.ok ? result : { subject, html, text: '' };
      return this.ready(row, texts);
    });
    const gone = rows.filter((row) => !isThere(row));
    return [...ready, ...gone.map(({ id }) => ({ id, to: null, subject: null, mail: undefined }))];
  }

  private get frame() {
    const { fromEmail, fromName, replyTo } = this.campaign;
    return { from: { email: fromEmail, name: fromName }, replyTo };
  }

  private variables({ id: emailId, contact_id: contactId, email, subscribed, created_at, data }: Present) {
    return variablesOf({
      contact: { id: contactId, email, subscribed, createdAt: created_at, data },
      links: this.deps.links.contactLinks({ contactId, emailId }),
      language: this.project.language,
    });
  }

  private ready({ id, email }: Present, { subject, html, text }: { subject: string; html: string; text: string }) {
    const filling = { id, to: { email }, subject, html, ...(text && { text }) };
    return {
      id,
      to: email,
      subject: subject === this.campaign.subject ? null : subject,
      mail: this.skeleton.fill(filling) ?? { ...this.frame, ...filling },
    };
  }
}

type Present = RecipientRow & { email: string };

const isThere = (row: RecipientRow): row is Present => row.email !== null;
