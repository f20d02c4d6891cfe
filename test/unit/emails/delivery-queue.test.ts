import { expect } from 'chai';
import type { PreparedMail } from '../../../services/emails/delivery-content.ts';
import { PreparedMails } from '../../../services/emails/delivery-queue.ts';

const MB = 1024 * 1024;
const pending = (count: number, size = 1) => Array.from({ length: count }, (_, n) => ({ id: `m${n}`, size }));
const prepared = (id: string): PreparedMail => ({ id, projectId: undefined, content: undefined, attachmentSet: null });

/** Prepares mails only when a test calls `ready`. */
class ManualPreparation {
  readonly groups: string[][] = [];
  private readonly calls: { ready: (mail: PreparedMail) => void; fail: (error: Error) => void }[] = [];

  prepare = (ids: string[], ready: (mail: PreparedMail) => void): Promise<void> => {
    this.groups.push(ids);
    return new Promise((_, fail) => this.calls.push({ ready, fail }));
  };

  ready(group: number, ...ids: string[]): void {
    for (const id of ids) this.calls[group]?.ready(prepared(id));
  }

  fail(group: number): void {
    this.calls[group]?.fail(new Error('unavailable'));
  }
}

const idOf = async (next: Promise<PreparedMail | undefined>) => (await next)?.id;

describe('the queue of prepared mails', () => {
  it('returns mails in the order in which they are ready, then undefined', async () => {
    const preparation = new ManualPreparation();
    const mails = new PreparedMails(pending(3), preparation.prepare);
    const waiting = [mails.next(), mails.next(), mails.next(), mails.next()];
    expect(preparation.groups).to.deep.equal([['m0', 'm1', 'm2']]);
    preparation.ready(0, 'm2', 'm0', 'm1');
    expect(await Promise.all(waiting.map(idOf))).to.deep.equal(['m2', 'm0', 'm1', undefined]);
    expect(await mails.next()).to.equal(undefined);
  });

  it('prepares one group ahead of its consumers', async () => {
    const preparation = new ManualPreparation();
    const mails = new PreparedMails(pending(80), preparation.prepare);
    const first = mails.next();
    expect(preparation.groups.map(({ length }) => length)).to.deep.equal([25]);
    preparation.ready(0, ...(preparation.groups[0] ?? []));
    await first;
    await mails.next();
    expect(preparation.groups.map(({ length }) => length)).to.deep.equal([25, 25]);
  });

  it('limits the bytes in memory, but always prepares at least one mail', async () => {
    const preparation = new ManualPreparation();
    const mails = new PreparedMails(pending(4, 6 * MB), preparation.prepare);
    const first = mails.next();
    expect(preparation.groups).to.deep.equal([['m0', 'm1']]);
    preparation.ready(0, 'm0', 'm1');
    await first;
    const huge = new ManualPreparation();
    void new PreparedMails(pending(2, 40 * MB), huge.prepare).next();
    expect(huge.groups).to.deep.equal([['m0']]);
  });

  it('rejects all waiting consumers when preparing fails', async () => {
    const preparation = new ManualPreparation();
    const mails = new PreparedMails(pending(2), preparation.prepare);
    const waiting = [mails.next(), mails.next()].map((next) => next.catch((error: Error) => error.message));
    preparation.fail(0);
    expect(await Promise.all(waiting)).to.deep.equal(['unavailable', 'unavailable']);
    expect(await mails.next().catch((error: Error) => error.message)).to.equal('unavailable');
  });

  it('resolves waiting consumers with undefined when it is closed', async () => {
    const preparation = new ManualPreparation();
    const mails = new PreparedMails(pending(30), preparation.prepare);
    const waiting = mails.next();
    mails.close();
    expect(await waiting).to.equal(undefined);
    preparation.ready(0, 'm0');
    expect(await mails.next()).to.equal(undefined);
    expect(preparation.groups).to.have.length(1);
  });
});
