import { expect } from 'chai';
import type { PreparedMail } from '../../../services/emails/delivery-content.ts';
import { PreparedMails } from '../../../services/emails/delivery-queue.ts';

const MB = 1024 * 1024;
const pending = (count: number, size = 1) => Array.from({ length: count }, (_, n) => ({ id: `m${n}`, size }));
const prepared = (id: string): PreparedMail => ({ id, projectId: undefined, content: undefined, attachmentSet: null });

/** Prepares nothing until it is told to. */
class ByHand {
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
    this.calls[group]?.fail(new Error('away'));
  }
}

const idOf = async (next: Promise<PreparedMail | undefined>) => (await next)?.id;

describe('mails prepared ahead', () => {
  it('are given out as they are ready, until there are no more', async () => {
    const hand = new ByHand();
    const mails = new PreparedMails(pending(3), hand.prepare);
    const waiting = [mails.next(), mails.next(), mails.next(), mails.next()];
    expect(hand.groups).to.deep.equal([['m0', 'm1', 'm2']]);
    hand.ready(0, 'm2', 'm0', 'm1');
    expect(await Promise.all(waiting.map(idOf))).to.deep.equal(['m2', 'm0', 'm1', undefined]);
    expect(await mails.next()).to.equal(undefined);
  });

  it('are prepared a group ahead of those who take them', async () => {
    const hand = new ByHand();
    const mails = new PreparedMails(pending(80), hand.prepare);
    const first = mails.next();
    expect(hand.groups.map(({ length }) => length)).to.deep.equal([25]);
    hand.ready(0, ...(hand.groups[0] ?? []));
    await first;
    await mails.next();
    expect(hand.groups.map(({ length }) => length)).to.deep.equal([25, 25]);
  });

  it('lie in memory only so far as there is room, and one always does', async () => {
    const hand = new ByHand();
    const mails = new PreparedMails(pending(4, 6 * MB), hand.prepare);
    const first = mails.next();
    expect(hand.groups).to.deep.equal([['m0', 'm1']]);
    hand.ready(0, 'm0', 'm1');
    await first;
    const huge = new ByHand();
    void new PreparedMails(pending(2, 40 * MB), huge.prepare).next();
    expect(huge.groups).to.deep.equal([['m0']]);
  });

  it('fail for all who wait when they cannot be prepared', async () => {
    const hand = new ByHand();
    const mails = new PreparedMails(pending(2), hand.prepare);
    const waiting = [mails.next(), mails.next()].map((next) => next.catch((error: Error) => error.message));
    hand.fail(0);
    expect(await Promise.all(waiting)).to.deep.equal(['away', 'away']);
    expect(await mails.next().catch((error: Error) => error.message)).to.equal('away');
  });

  it('are waited for no longer when it is closed', async () => {
    const hand = new ByHand();
    const mails = new PreparedMails(pending(30), hand.prepare);
    const waiting = mails.next();
    mails.close();
    expect(await waiting).to.equal(undefined);
    hand.ready(0, 'm0');
    expect(await mails.next()).to.equal(undefined);
    expect(hand.groups).to.have.length(1);
  });
});
