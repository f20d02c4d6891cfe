import { setImmediate as immediate } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Project } from '../../db/models/project.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { MailSkeleton, type SendOutcome, type SmtpMessage } from '../../platform/smtp/mailer.ts';
import { plainMail, type Renderer, type RenderItem, type SkeletonMail } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { senderDomain } from '../domains/name.ts';
import type { DeliveryDeps } from '../emails/deliver.ts';
import { bulkHeaders, type DressedMail, dressHeaders, tracksOf, withTracks } from '../emails/dress.ts';
import { fillingOf, formOf } from '../emails/dress-form.ts';
import type { MailLinks } from '../emails/links.ts';
import { footerFor } from '../templates/footer.ts';
import { variablesOf } from '../templates/variables.ts';

/** How long composing may block the event loop. */
const MAX_BLOCKING_MS = 0.1;
/** The variables with links to a contact's pages. The first alternative matches unsubscribeUrl as well. */
const CONTACT_LINKS = /subscribeUrl|manageUrl/;

type Refused = Extract<SendOutcome, { kind: 'refused' }>;

/** A composed mail of a campaign. */
export interface ReadyMail {
  id: string;
  /** Null if the contact is deleted; the mail is SKIPPED then. */
  to: string | null;
  /** The rendered subject; null if it equals the campaign's. */
  subject: string | null;
  mail: SmtpMessage | Refused;
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

const readRecipients = statement<RecipientRow>(
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

type ProjectSettings = Pick<Project, 'language' | 'tracking'>;

/** Composes the mails of one campaign. */
export class CampaignContent {
  private readonly deps: ContentDeps;
  private readonly campaign: Campaign;
  private readonly project: ProjectSettings;
  private readonly skeleton: MailSkeleton;
  /** Saves signing these links for each mail: most bodies that are not MARKETING use none. */
  private readonly hasContactLinks: boolean;

  private constructor(deps: ContentDeps, campaign: Campaign, project: ProjectSettings, skeleton: MailSkeleton) {
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

  /** Composes the mails with these ids. Returns them in any order. */
  async prepare(ids: string[]): Promise<ReadyMail[]> {
    const rows = await readRecipients(this.deps.db, [plainArray(ids)]);
    const present = rows.filter(hasContact);
    const items = present.map((row) => this.itemOf(row));
    const { subject, body: html } = this.campaign;
    const results = await this.deps.renderer.render({ subject, html, items });
    const ready: (ReadyMail | Promise<ReadyMail>)[] = [];
    let until = 0;
    for (const [index, row] of present.entries()) {
      // Yields to the event loop, so that SMTP connections do not wait for all mails of the call.
      if (performance.now() > until) {
        await immediate();
        until = performance.now() + MAX_BLOCKING_MS;
      }
      const [item, result] = [items[index] ?? this.itemOf(row), results[index]];
      // A template that exceeds a rendering limit does not fail the mail.
      const rendered = result?.ok ? result : plainMail({ subject, html: html + (item.footer ?? '') }, item);
      ready.push(this.readyMail(row, item, rendered));
    }
    const deleted = rows.filter((row) => !hasContact(row));
    return [
      ...(await Promise.all(ready)),
      ...deleted.map(({ id }) => ({ id, to: null, subject: null, mail: noContact })),
    ];
  }

  /** Returns the input of rendering: the variables, and the footer of MARKETING mail. */
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

  private readyMail(row: Recipient, item: RenderItem, rendered: RenderedMail): ReadyMail | Promise<ReadyMail> {
    const { id, email: to } = row;
    const subject = rendered.subject === this.campaign.subject ? null : rendered.subject;
    const mail = this.compose(row, item, rendered);
    return mail instanceof Promise ? mail.then((mail) => ({ id, to, subject, mail })) : { id, to, subject, mail };
  }

  private compose(
    { id, email }: Recipient,
    { builtIn }: RenderItem,
    rendered: RenderedMail,
  ): SmtpMessage | Promise<SmtpMessage | Refused> {
    const { links } = this.deps;
    const { subject, html, text, skeletonMail } = rendered;
    const mail = this.trackedMail(id, builtIn.unsubscribeUrl);
    const tracks = tracksOf(links, mail);
    const head = { id, to: { email }, subject, ...dressHeaders(links, mail, html) };
    const precompiled = skeletonMail && formOf(skeletonMail.skeleton, tracks !== undefined);
    const filled = precompiled && this.skeleton.composePrecompiled(head, precompiled, fillingOf(skeletonMail, tracks));
    const composed =
      filled ?? this.skeleton.compose({ ...head, html: withTracks(html, tracks), ...(text && { text }) });
    return composed instanceof Promise ? composed.catch(refusedBecause) : composed;
  }

  private trackedMail(id: string, unsubscribeUrl: unknown): DressedMail {
    const { projectId, type, fromEmail: from } = this.campaign;
    const url = typeof unsubscribeUrl === 'string' ? unsubscribeUrl : undefined;
    return { id, projectId, type, from, tracking: this.project.tracking, headers: null, unsubscribeUrl: url };
  }
}

interface RenderedMail {
  subject: string;
  html: string;
  text?: string;
  skeletonMail?: SkeletonMail;
}

const refusedBecause = ({ message }: Error): Refused => ({
  kind: 'refused',
  reason: `cannot be written as a mail: ${message}`,
});

const noContact: Refused = { kind: 'refused', reason: 'its recipient is gone' };

const hasContact = (row: RecipientRow): row is Recipient => row.email !== null;
