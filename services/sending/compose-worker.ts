// The work of a compose process: adds tracking, writes MIME messages and signs them. No template runs here.
import { MailSkeleton } from '../../platform/mime/compose.ts';
import { signWithDkimSync } from '../../platform/mime/dkim.ts';
import { reuseMessageMemory } from '../../platform/mime/encoding.ts';
import type { SmtpMessage } from '../../platform/mime/smtp-message.ts';
import { writeFrame } from '../../platform/result-frames.ts';
import { htmlOf, type TemplateSkeleton, textOf } from '../../platform/templates/skeleton.ts';
import { MailLinks } from '../emails/links.ts';
import { addTracking, ownHead, trackingOf } from './add-tracking.ts';
import type { ComposeBatch, ComposeOrder, ComposeResult, ComposeSettings, SharedHead } from './compose-protocol.ts';
import { bodyValues, precompiledBody } from './precompiled-body.ts';

/** Results are flushed by size, and by time because the parent takes silence for an endless loop. */
const FLUSH_BYTES = 192 * 1024;
const FLUSH_MS = 50;

/** Composes the mails of one shared head. */
class HeadComposer {
  private readonly links: MailLinks;
  private readonly head: SharedHead;
  /** Unsigned: signing here instead of in Node's thread pool makes clear which mail a process died of. */
  private readonly skeleton: MailSkeleton;

  constructor(links: MailLinks, head: SharedHead) {
    this.links = links;
    this.head = head;
    this.skeleton = new MailSkeleton({ ...head, dkim: undefined });
  }

  compose(order: ComposeOrder, skeleton: TemplateSkeleton | undefined): SmtpMessage | Promise<SmtpMessage> {
    const composed = this.composeUnsigned(order, skeleton);
    return composed instanceof Promise ? composed.then((message) => this.sign(message)) : this.sign(composed);
  }

  private sign(message: SmtpMessage): SmtpMessage {
    const { dkim } = this.head;
    return dkim ? { ...message, raw: signWithDkimSync(message.raw, dkim) } : message;
  }

  private composeUnsigned(
    { id, to, subject, body, headers, unsubscribeUrl, attachments }: ComposeOrder,
    skeleton: TemplateSkeleton | undefined,
  ): SmtpMessage | Promise<SmtpMessage> {
    const { projectId, type, hasTopic, from } = this.head;
    const tracking = trackingOf(this.links, this.head, { id, projectId });
    const skeletonMail = skeleton && 'values' in body ? { skeleton, values: body.values } : undefined;
    const html = () => (skeletonMail ? htmlOf(skeletonMail) : 'html' in body ? body.html : '');
    const own = ownHead(this.links, { id, from: from.email, type, hasTopic, headers, unsubscribeUrl }, html);
    const mail = { id, to, subject, ...own };
    const precompiled =
      skeletonMail && !attachments?.length && precompiledBody(skeletonMail.skeleton, tracking !== undefined);
    const filled =
      precompiled && this.skeleton.fillPrecompiled(mail, precompiled, bodyValues(skeletonMail.values, tracking));
    if (filled) return filled;
    const text = skeletonMail ? textOf(skeletonMail) : 'text' in body ? body.text : undefined;
    const whole = { ...mail, html: addTracking(html(), tracking), ...(text && { text }) };
    const simple = attachments?.length ? undefined : this.skeleton.fill(whole);
    return simple ?? this.skeleton.compose({ ...whole, ...(attachments && { attachments }) });
  }
}

/** Holds results that are not sent to the parent yet. */
class ResultBuffer {
  private results: ComposeResult[] = [];
  private messages: Buffer[] = [];
  private size = 0;
  private since = performance.now();

  add({ raw, ...message }: SmtpMessage): void {
    this.results.push({ ...message, length: raw.length });
    this.messages.push(raw);
    this.size += raw.length;
  }

  refuse(error: unknown): void {
    this.results.push({ refused: error instanceof Error ? error.message : String(error) });
  }

  get isDue(): boolean {
    return this.size >= FLUSH_BYTES || performance.now() - this.since >= FLUSH_MS;
  }

  flush(): void {
    writeFrame(this.results, this.messages);
    reuseMessageMemory();
    this.results = [];
    this.messages = [];
    this.size = 0;
    this.since = performance.now();
  }
}

/** Composes batches from the parent until it disconnects. `beforeEach` lets tests make a mail poisonous. */
export function serveParent(beforeEach?: (order: ComposeOrder) => void): void {
  const heads = new Map<number, HeadComposer>();
  const skeletons = new Map<number, TemplateSkeleton>();
  let links: MailLinks | undefined;

  async function compose(order: ComposeOrder, buffer: ResultBuffer): Promise<void> {
    try {
      beforeEach?.(order);
      const { head, body } = order;
      const composer = heads.get(head);
      if (!composer) throw new Error('its head is missing');
      const composed = composer.compose(order, 'values' in body ? skeletons.get(body.skeleton) : undefined);
      buffer.add(composed instanceof Promise ? await composed : composed);
    } catch (error) {
      buffer.refuse(error);
    }
  }

  async function work({ shared, orders, forget }: ComposeBatch, links: MailLinks): Promise<void> {
    for (const [number, object] of shared)
      if ('head' in object) heads.set(number, new HeadComposer(links, object.head));
      else skeletons.set(number, object.skeleton);
    const buffer = new ResultBuffer();
    for (const [index, order] of orders.entries()) {
      await compose(order, buffer);
      if (buffer.isDue || index === orders.length - 1) buffer.flush();
    }
    for (const number of forget) heads.delete(number) || skeletons.delete(number);
  }

  // Ctrl-C in a terminal reaches every process; the parent decides when this one ends.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  process.on('disconnect', () => process.exit());
  process.on('message', (message: ComposeSettings | ComposeBatch) => {
    if (links && 'orders' in message) void work(message, links);
    else if (!('orders' in message)) {
      links = new MailLinks(message);
      new ResultBuffer().flush();
    }
  });
}
