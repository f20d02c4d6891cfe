import { expect } from 'chai';
import { type CallShare, CallShares } from '../../../platform/call-shares.ts';

const SLOW_MS = 14_000;

describe('shares of outgoing calls', () => {
  const limits = { total: 6, perProject: 4, slowTotal: 3, slowPerProject: 2, waitingPerProject: 1 };

  const entered = async (shares: CallShares, project: string, receiver: string): Promise<CallShare> => {
    const share = await shares.enter(project, receiver);
    if (!share) throw new Error('there is no room');
    return share;
  };
  const callSlowly = async (shares: CallShares, project: string, receiver: string) => {
    const share = await entered(shares, project, receiver);
    share.report(SLOW_MS);
    share.leave();
  };

  it('give one project a part of them', async () => {
    const shares = new CallShares({ ...limits, waitingPerProject: 0 });
    for (let n = 0; n < 4; n++) await entered(shares, 'a', `${n}`);
    expect(await shares.enter('a', 'more')).to.equal(undefined);
    expect(await shares.enter('b', 'first')).to.not.equal(undefined);
  });

  it('give receivers that are known to be slow half of them', async () => {
    const shares = new CallShares({ ...limits, waitingPerProject: 0 });
    for (const project of ['a', 'b']) for (const n of [1, 2, 3]) await callSlowly(shares, project, `${project}${n}`);
    for (const receiver of ['a1', 'a2']) await entered(shares, 'a', receiver);
    expect(await shares.enter('a', 'a3')).to.equal(undefined);
    await entered(shares, 'b', 'b1');
    expect(await shares.enter('b', 'b2')).to.equal(undefined);
    expect(await shares.enter('a', 'fast')).to.not.equal(undefined);
  });

  it('go to a fast receiver before one that has waited longer and is slow', async () => {
    const shares = new CallShares({ ...limits, total: 1, waitingPerProject: 2 });
    await callSlowly(shares, 'b', 'slow');
    const only = await entered(shares, 'a', 'any');
    const order: string[] = [];
    const next = (['slow', 'fast'] as const).map(async (receiver) => {
      const share = await entered(shares, 'b', receiver);
      order.push(receiver);
      share.leave();
    });
    only.leave();
    await Promise.all(next);
    expect(order).to.deep.equal(['fast', 'slow']);
  });

  it('are given up by slow receivers when others wait, and by nobody else', async () => {
    const shares = new CallShares({ ...limits, total: 2 });
    const slow = await entered(shares, 'a', 'slow');
    const fast = await entered(shares, 'a', 'fast');
    slow.report(SLOW_MS);
    fast.report(10);
    expect([slow.shouldYield(), fast.shouldYield()]).to.deep.equal([false, false]);
    const waiting = shares.enter('b', 'other');
    expect([slow.shouldYield(), fast.shouldYield()]).to.deep.equal([true, false]);
    slow.leave();
    expect(await waiting).to.not.equal(undefined);
  });

  it('ask callers without one to come back one after the other', async () => {
    const shares = new CallShares(limits);
    await callSlowly(shares, 'a', 'slow');
    const delays = Array.from({ length: 5 }, () => shares.returnDelayMs('a'));
    expect(delays).to.deep.equal(delays.toSorted((one, other) => one - other));
    expect(new Set(delays).size).to.equal(5);
    expect(shares.returnDelayMs('b')).to.be.below(delays[1] ?? 0);
  });

  it('are not waited for once the signal is aborted', async () => {
    const shares = new CallShares({ ...limits, total: 1 });
    await entered(shares, 'a', 'any');
    const stop = new AbortController();
    const waiting = shares.enter('b', 'other', stop.signal);
    stop.abort();
    expect(await waiting).to.equal(undefined);
  });
});
