// Prepares mails for SMTP: reads their contents, renders them in renderer processes, and composes and signs them in
// compose processes. Writes nothing.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { SealError } from '../../platform/crypto/seal.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SmtpMessage } from '../../platform/mime/smtp-message.ts';
import type { SendOutcome } from '../../platform/smtp/outcome.ts';
import {
  fixedSubject,
  plainMail,
  type Rendered,
  type Renderer,
  type RenderItem,
} from '../../platform/templates/index.ts';
import { senderDomain } from '../domains/name.ts';
import type { Signer } from '../domains/signing-key.ts';
import { attachmentsOf } from '../emails/attachments.ts';
import { listIdOf } from '../emails/bulk-headers.ts';
import { type LinkSettings, MailLinks } from '../emails/links.ts';
import { ByteBudget } from './byte-budget.ts';
import { CampaignContent, type RecipientRow, reachable } from './campaign-contents.ts';
import type { RenderedBody, RenderedMail, SharedHead } from './compose-protocol.ts';
import { Composer, type ComposerOptions } from './composer.ts';
import { type ContentRow, groupByTemplate, readContents, renderItem, templateSubject } from './single-contents.ts';

/** A composed mail, or why it is not sent, permanently or for now. */
export type PreparedMessage = SmtpMessage | Extract<SendOutcome, { kind: 'refused' | 'deferred' }>;

export interface PreparedMail {
  id: string;
  projectId: string | undefined;
  /** The sender's address; empty where there is nothing to send. */
  from: string;
  /** Null if the recipient or the content is gone. */
  to: string | null;
  /** Of the sender, in the form in which domains are stored; empty where there is nothing to send. */
  senderDomain: string;
  /** The rendered subject where it differs from the stored one. */
  subject: string | null;
  message: PreparedMessage;
}

/** May return a promise: the next attachments are read when it is resolved. */
export type OnReady = (mail: PreparedMail) => void | Promise<void>;

export interface PreparationDeps {
  db: Db;
  renderer: Renderer;
  links: LinkSettings;
  log: Logger;
  /** Undefined when the relay signs mails. */
  signerFor?: ((projectId: string, domain: string) => Promise<Signer | undefined>) | undefined;
  onQuarantined?: ComposerOptions['onQuarantined'];
  /** Shared by several in tests; by default each has its own. */
  composer?: Composer;
}

/** How long the content of a campaign is used before it is read again, for changed settings of its project. */
const CAMPAIGN_MS = 30_000;
/** Attachments are read right before composing, this many bytes at a time. */
const ATTACHMENT_BYTES = 16 * 1024 * 1024;
/** A body beyond this length shares nothing worth keeping. */
const MAX_SKELETON = 256 * 1024;
const MAX_HEADS = 10_000;

const gone = (id: string): PreparedMail => ({
  id,
  projectId: undefined,
  from: '',
  to: null,
  senderDomain: '',
  subject: null,
  message: { kind: 'refused', reason: 'its recipient or content no longer exists' },
});

export class Preparation {
  private readonly deps: PreparationDeps;
  private readonly links: MailLinks;
  private readonly composer: Composer;
  private readonly attachmentBudget = new ByteBudget(ATTACHMENT_BYTES);
  private readonly campaigns = new LRUCache<string, Promise<CampaignContent | undefined>>({
    max: 100,
    ttl: CAMPAIGN_MS,
  });
  private readonly heads = new LRUCache<string, SharedHead>({ max: MAX_HEADS });
  private readonly signerNumbers = new LRUCache<string, number>({ max: 1_000 });

  constructor(deps: PreparationDeps) {
    this.deps = deps;
    this.links = new MailLinks(deps.links);
    const { links: settings, log, onQuarantined } = deps;
    this.composer = deps.composer ?? new Composer({ settings, log, onQuarantined });
  }

  /**
   * Prepares transactional and workflow mail, mails of one template together. Reports each as soon as it is composed, so
   * that a slow template delays only its own mails. Rejects when the database or the processes are unavailable.
   */
  async prepare(ids: string[], ready: OnReady): Promise<void> {
    this.warm();
    const rows = await readContents(this.deps.db, ids);
    reportGone(ids, rows, ready);
    await Promise.all(groupByTemplate(rows).map((group) => this.prepareGroup(group, ready)));
  }

  /** Prepares mail of one campaign. */
  async prepareCampaign(campaignId: string, recipients: RecipientRow[], ready: OnReady): Promise<void> {
    this.warm();
    const { renderer } = this.deps;
    const content = await this.campaignContent(campaignId);
    const ids = recipients.map(({ id }) => id);
    const rows = reachable(recipients);
    if (!content) return reportGone(ids, [], ready);
    reportGone(ids, rows, ready);
    const { projectId, subject, body: html } = content.campaign;
    const signer = await this.signerFor(projectId, content.senderDomain);
    const head = content.headFor(signer instanceof SealError ? undefined : signer);
    const items = rows.map((row) => content.renderItem(row, this.links));
    const results = await renderer.render({ subject, html, items });
    await Promise.all(
      rows.map(async ({ id, email }, index) => {
        const item = items[index] ?? { data: {}, builtIn: {} };
        const rendered = renderedOf(results[index]) ?? plainMail({ subject, html: html + (item.footer ?? '') }, item);
        const mail: RenderedMail = {
          id,
          head,
          to: { email },
          subject: rendered.subject,
          body: bodyOf(rendered),
          unsubscribeUrl: urlOf(item),
        };
        await ready({
          id,
          projectId,
          from: content.campaign.fromEmail,
          to: email,
          senderDomain: content.senderDomain,
          subject: rendered.subject === subject ? null : rendered.subject,
          message: signer instanceof SealError ? cannotBeSigned(signer) : await this.composer.compose(mail),
        });
      }),
    );
  }

  /** Processes of both kinds start at once, while the contents are read. */
  private warm(): void {
    this.deps.renderer.warm();
    this.composer.warm();
  }

  /** Rejects while no mail can be rendered. */
  async check(): Promise<void> {
    await this.deps.renderer.render({ subject: '', html: '{{ check }}', items: [{ data: {}, builtIn: {} }] });
  }

  /** Ends the compose processes, unless they are shared. */
  async close(): Promise<void> {
    if (!this.deps.composer) await this.composer.close();
  }

  private campaignContent(id: string): Promise<CampaignContent | undefined> {
    const cached = this.campaigns.get(id);
    if (cached) return cached;
    const content = CampaignContent.read(this.deps.db, id);
    this.campaigns.set(id, content);
    content.catch(() => this.campaigns.delete(id));
    return content;
  }

  private async prepareGroup(rows: ContentRow[], ready: OnReady): Promise<void> {
    const { renderer } = this.deps;
    const [first] = rows;
    if (!first) return;
    const items = rows.map((row) => renderItem(row, this.links));
    const results = await renderer.render({ subject: templateSubject(first), html: first.html, items });
    await Promise.all(
      rows.map(async (row, index) => {
        const item = items[index] ?? renderItem(row, this.links);
        const result = renderedOf(results[index]);
        const subject = result && (fixedSubject(row.subject) ?? result.subject);
        const rendered = result ?? (await this.replaceVariables(row, item));
        await this.finish(row, item, { ...bodyAndSubject(rendered), ...(subject !== undefined && { subject }) }, ready);
      }),
    );
  }

  private async finish(
    row: ContentRow,
    item: RenderItem,
    { subject, body }: { subject: string; body: RenderedBody },
    ready: OnReady,
  ): Promise<void> {
    const { id, projectId, toEmail: to, attachmentSet: set, attachmentBytes: bytes } = row;
    const domain = senderDomain(row.fromEmail);
    const signer = await this.signerFor(projectId, domain);
    const report = (message: PreparedMessage) =>
      ready({
        id,
        projectId,
        to,
        from: row.fromEmail,
        senderDomain: domain,
        message,
        subject: subject === (row.renderedSubject ?? row.subject) ? null : subject,
      });
    if (signer instanceof SealError) return void (await report(cannotBeSigned(signer)));
    const mail: RenderedMail = {
      id,
      head: this.headOf(row, domain, signer),
      to: { email: to, name: row.toName },
      subject,
      body,
      headers: row.headers,
      unsubscribeUrl: urlOf(item),
    };
    if (!set) return void (await report(await this.composer.compose(mail)));
    await this.attachmentBudget.run(bytes ?? 0, async () => {
      const attachments = await attachmentsOf(this.deps.db, set);
      await report(await this.composer.compose({ ...mail, attachments }));
    });
  }

  /** Returns the same object for the same sender, so that a compose process gets it once. */
  private headOf(row: ContentRow, domain: string, signer: Signer | undefined): SharedHead {
    const { projectId, type, tracking, untracked, fromEmail: email, fromName: name, topic } = row;
    // The caller's own headers replace them.
    const own = Object.keys(row.headers ?? {}).map((name) => name.toLowerCase());
    const replyTo = own.includes('reply-to') ? null : row.replyTo;
    const listId = topic && !own.includes('list-id') ? listIdOf({ projectId, from: email, topic: topic.key }) : null;
    const signerNumber = signer && this.signerNumber(signer);
    const key = JSON.stringify([projectId, type, tracking, untracked, email, name, replyTo, listId, signerNumber]);
    const known = this.heads.get(key);
    if (known) return known;
    const dkim = signer && { domain, ...signer };
    const head: SharedHead = {
      projectId,
      type,
      tracking,
      untracked,
      from: { email, name },
      replyTo,
      headers: listId ? { 'List-Id': listId } : {},
      hasTopic: topic !== null,
      dkim,
    };
    this.heads.set(key, head);
    return head;
  }

  private signerNumber({ selector, privateKey }: Signer): number {
    const key = `${selector} ${privateKey}`;
    const number = this.signerNumbers.get(key) ?? nextSignerNumber++;
    this.signerNumbers.set(key, number);
    return number;
  }

  /** A template that exceeds a limit of rendering does not fail the mail: its variables are replaced. */
  private async replaceVariables(row: ContentRow, item: RenderItem): Promise<WholeMail> {
    const plain = plainMail({ subject: row.subject, html: row.html + (item.footer ?? '') }, item);
    // Turning hostile HTML into text is for a process that may be killed for it.
    const [asText] = await this.deps.renderer.render({
      subject: '',
      html: '{{ html | safe }}',
      items: [{ data: { html: plain.html }, builtIn: {} }],
    });
    return { ...plain, ...(asText?.ok && { text: asText.text }) };
  }

  /** Returns the error for a key that cannot be unsealed: the operator must fix it, and other mail continues. */
  private async signerFor(projectId: string, domain: string): Promise<Signer | SealError | undefined> {
    try {
      return await this.deps.signerFor?.(projectId, domain);
    } catch (error) {
      if (error instanceof SealError) return error;
      throw error;
    }
  }
}

let nextSignerNumber = 1;

interface WholeMail {
  subject: string;
  html: string;
  text?: string;
}

type RenderedOk = Extract<Rendered, { ok: true }>;

const renderedOf = (result: Rendered | undefined): RenderedOk | undefined => (result?.ok ? result : undefined);

function bodyOf(rendered: WholeMail | RenderedOk): RenderedBody {
  const skeletonMail = 'skeletonMail' in rendered ? rendered.skeletonMail : undefined;
  if (skeletonMail && skeletonMail.skeleton.html.length <= MAX_SKELETON) return skeletonMail;
  return { html: rendered.html, text: rendered.text };
}

const bodyAndSubject = (rendered: WholeMail | RenderedOk) => ({ subject: rendered.subject, body: bodyOf(rendered) });

const urlOf = ({ builtIn }: RenderItem): string | undefined =>
  typeof builtIn.unsubscribeUrl === 'string' ? builtIn.unsubscribeUrl : undefined;

const cannotBeSigned = (error: SealError): PreparedMessage => ({
  kind: 'deferred',
  reason: `cannot be signed: ${error.message}`,
  concerns: 'recipient',
});

function reportGone(ids: string[], rows: { id: string }[], ready: OnReady): void {
  if (rows.length === ids.length) return;
  const found = new Set(rows.map(({ id }) => id));
  for (const id of ids) if (!found.has(id)) void ready(gone(id));
}
