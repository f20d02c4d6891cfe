import { setImmediate as immediate } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Project } from '../../db/models/project.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { MailSkeleton, type SendOutcome, type WireMail } from '../../platform/mailer.ts';
import { type Outlined, plainMail, type Renderer, type RenderItem } from '../../platform/renderer/index.ts';
import type { Data } from '../contacts/data.ts';
import { senderDomain } from '../domains/name.ts';
import type { DeliveryDeps } from '../emails/deliver.ts';
import { bulkHeaders, type DressedMail, dressHeaders, tracksOf, withTracks } from '../emails/dress.ts';
import { fillingOf, formOf } from '../emails/dress-form.ts';
import type { MailLinks } from '../emails/links.ts';
import { footerFor } from '../templates/footer.ts';
import { variablesOf } from '../templates/variables.ts';

/** So long others wait while mails are written. */
const AT_ONCE_MS = 0.1;
/** The pages of a contact: unsubscribeUrl is one of these, too. */
const CONTACT_LINKS = /subscribeUrl|manageUrl/;

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
  /** They are signed for each mail, and most bodies that are not MARKETING show none. */
  private readonly hasContactLinks: boolean;

  private constructor(deps: ContentDeps, campaign: Campaign, project: Sender, skeleton: MailSkeleton) {
    this.deps = deps;
    this.campaign = campaign;
    this.project = project;
    this.skeleton = skeleton;
    const { type, subject, body } = campaign;
    this.hasContactLinks = type === 'MARKETING' || CONTACT_LINKS.test(subject) || CONTACT_LINKS.test(body);
  }

  static async of(deps: ContentDeps, campaign: Campaign): Promise<CampaignContent> {
    const { id: campaignId, projectId, fromEmail, fromName, replyTo } = campaign;
    const project = await Project.query(deps.db).findById(projectId).select('language', 'tracking');
    const domain = senderDomain(fromEmail);
    const signer = await deps.signerFor?.(projectId, domain);
    const from = { email: fromEmail, name: fromName };
    const headers = bulkHeaders({ projectId, campaignId, from: fromEmail });
    const skeleton = new MailSkeleton({ from, replyTo, headers, ...(signer && { dkim: { domain, ...signer } }) });
    return new CampaignContent(deps, campaign, project ?? { language: 'en', tracking: 'ENABLED' }, skeleton);
  }

  /** Reads, renders and writes some mails, in any order. */
  async prepare(ids: string[]): Promise<ReadyMail[]> {
    const rows = await recipients(this.deps.db, [plainArray(ids)]);
    const there = rows.filter(isThere);
    const items = there.map((row) => this.itemOf(row));
    const { subject, body: html } = this.campaign;
    const results = await this.deps.renderer.render({ subject, html, items });
    const ready: (ReadyMail | Promise<ReadyMail>)[] = [];
    let until = 0;
    for (const [place, row] of there.entries()) {
      // Written in one go they would keep those who send from their connections.
      if (performance.now() > until) {
        await immediate();
        until = performance.now() + AT_ONCE_MS;
      }
      const [item, result] = [items[place] ?? this.itemOf(row), results[place]];
      // A template that asks for too much never fails a mail.
      const made = result?.ok ? result : plainMail({ subject, html: html + (item.footer ?? '') }, item);
      ready.push(this.write(row, item, made));
    }
    const gone = rows.filter((row) => !isThere(row));
    return [...(await Promise.all(ready)), ...gone.map(({ id }) => ({ id, to: null, subject: null, mail: nobody }))];
  }

  /** What is rendered: the variables of a mail, and the footer where it has one. */
  private itemOf({ id: emailId, contact_id: contactId, email, subscribed, created_at, data }: Recipient): RenderItem {
    const { language } = this.project;
    const variables = variablesOf({
      contact: { id: contactId, email, subscribed, createdAt: created_at, data },
      ...(this.hasContactLinks && { links: this.deps.links.contactLinks({ contactId, emailId }) }),
      language,
    });
    if (this.campaign.type !== 'MARKETING') return variables;
    return { ...variables, footer: footerFor(data.locale, language) };
  }

  private write(row: Recipient, item: RenderItem, made: Made): ReadyMail | Promise<ReadyMail> {
    const { id, email: to } = row;
    const subject = made.subject === this.campaign.subject ? null : made.subject;
    const mail = this.compose(row, item, made);
    return mail instanceof Promise ? mail.then((mail) => ({ id, to, subject, mail })) : { id, to, subject, mail };
  }

  private compose(
    { id, email }: Recipient,
    { builtIn }: RenderItem,
    made: Made,
  ): WireMail | Promise<WireMail | Refused> {
    const { links } = this.deps;
    const { subject, html, text, outlined } = made;
    const mail = this.dressed(id, builtIn.unsubscribeUrl);
    const tracks = tracksOf(links, mail);
    const head = { id, to: { email }, subject, ...dressHeaders(links, mail, html) };
    const form = outlined && formOf(outlined.outline, tracks !== undefined);
    const filled = form && this.skeleton.composeForm(head, form, fillingOf(outlined, tracks));
    const written = filled ?? this.skeleton.compose({ ...head, html: withTracks(html, tracks), ...(text && { text }) });
    return written instanceof Promise ? written.catch(unwritable) : written;
  }

  private dressed(id: string, unsubscribeUrl: unknown): DressedMail {
    const { projectId, type, fromEmail: from } = this.campaign;
    const url = typeof unsubscribeUrl === 'string' ? unsubscribeUrl : undefined;
    return { id, projectId, type, from, tracking: this.project.tracking, headers: null, unsubscribeUrl: url };
  }
}

interface Made {
  subject: string;
  html: string;
  text?: string;
  outlined?: Outlined;
}

const unwritable = ({ message }: Error): Refused => ({
  kind: 'refused',
  reason: `cannot be written as a mail: ${message}`,
});

const nobody: Refused = { kind: 'refused', reason: 'its recipient is gone' };

const isThere = (row: RecipientRow): row is Recipient => row.email !== null;
