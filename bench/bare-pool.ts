// The baseline of `delivery`: nodemailer's own pool, which builds each message, and nothing else: no database, no
// template, no text part from HTML, no tracking.
import { createTransport } from 'nodemailer';
import { receiptHtml, receiptText } from './mail-text.ts';
import type { PoolOrder } from './pool.ts';

async function send({ url, connections, mails, dkim }: PoolOrder): Promise<void> {
  const pool = createTransport({
    pool: true,
    url,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
    ...(dkim && { dkim }),
  } as Parameters<typeof createTransport>[0]);
  let next = 0;
  const sendNext = async (): Promise<void> => {
    for (let n = next++; n < mails; n = next++)
      await pool.sendMail({
        from: { name: 'Shop', address: 'shop@bench.example' },
        to: `user${n}@example.com`,
        subject: `Your receipt ${n}`,
        html: receiptHtml(`Ann ${n}`),
        text: receiptText(`Ann ${n}`),
      });
  };
  // Enough that the pool never waits for the next mail.
  await Promise.all(Array.from({ length: connections * 4 }, sendNext));
  pool.close();
}

process.on('message', async (order: PoolOrder) => {
  const before = process.cpuUsage();
  const started = performance.now();
  await send(order);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ seconds: (performance.now() - started) / 1000, cpuSeconds: (user + system) / 1e6 });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
