// The baseline of `campaigns`, `delivery` and `whole`: nodemailer's pool with prebuilt messages, and nothing else: no database, no template, no
// tracking. nodemailer signs when signing is on.
import { createTransport } from 'nodemailer';
import { composeMail } from '../platform/mime/compose.ts';
import { receiptHtml, receiptText } from './mail-text.ts';
import { newsletter, plainNewsletter } from './newsletter.ts';
import type { PoolOrder } from './pool.ts';

/** The number of built messages, which are reused for other addresses. */
const BUILT = 1_000;

async function send({ url, connections, mails, dkim }: PoolOrder, built: Buffer[]): Promise<void> {
  const pool = createTransport({
    pool: true,
    url,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
    ...(dkim && { dkim }),
  } as Parameters<typeof createTransport>[0]);
  let next = 0;
  const sendNext = async (): Promise<void> => {
    for (let n = next++; n < mails; n = next++) {
      const envelope = { from: 'news@bench.example', to: [`user${n}@example.com`] };
      await pool.sendMail({ envelope, raw: built[n % BUILT] ?? '' });
    }
  };
  // Enough that the pool never waits for the next mail.
  await Promise.all(Array.from({ length: connections * 4 }, sendNext));
  pool.close();
}

async function build(content: PoolOrder['content']): Promise<Buffer[]> {
  const isReceipt = content === 'receipt';
  const built: Buffer[] = [];
  for (let n = 0; n < BUILT; n++) {
    const name = `Ann ${n}`;
    const texts = isReceipt
      ? { subject: `Your receipt ${n}`, html: receiptHtml(name), text: receiptText(name) }
      : { subject: 'News', html: newsletter(name), text: plainNewsletter(name) };
    const from = { email: 'news@bench.example', name: 'News' };
    built.push((await composeMail({ id: String(n), from, to: { email: `user${n}@example.com` }, ...texts })).raw);
  }
  return built;
}

process.on('message', async (order: PoolOrder) => {
  const built = await build(order.content);
  const before = process.cpuUsage();
  const started = performance.now();
  await send(order, built);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ seconds: (performance.now() - started) / 1000, cpuSeconds: (user + system) / 1e6 });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
