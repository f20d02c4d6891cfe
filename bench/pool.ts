// Runs a pool of nodemailer, the baseline of benchmarks that send, in a process of its own.
import { once } from 'node:events';
import { forked, type Sink } from './sink.ts';

export interface PoolOrder {
  url: string;
  connections: number;
  mails: number;
  /** What each mail contains; a newsletter has five kilobytes, a receipt two. */
  content: 'newsletter' | 'receipt';
  dkim?: { domainName: string; keySelector: string; privateKey: string };
}

export interface PoolResult {
  /** Mails a second. */
  rate: number;
  /** Processor milliseconds a mail. */
  cpu: number;
}

/** `isPrebuilt`: sends messages that were built before; otherwise the pool builds each. */
export async function runPool(
  sink: Sink,
  { isPrebuilt, ...order }: Omit<PoolOrder, 'url'> & { isPrebuilt: boolean },
): Promise<PoolResult> {
  const before = await sink.count();
  const child = forked(isPrebuilt ? 'prebuilt-pool.ts' : 'bare-pool.ts');
  await once(child, 'message');
  child.send({ ...order, url: sink.url } satisfies PoolOrder);
  const [{ seconds, cpuSeconds }] = (await once(child, 'message')) as [{ seconds: number; cpuSeconds: number }];
  child.disconnect();
  await sink.reached(before + order.mails);
  return { rate: order.mails / seconds, cpu: (cpuSeconds / order.mails) * 1_000 };
}
