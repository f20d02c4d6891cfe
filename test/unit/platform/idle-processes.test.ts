import { expect } from 'chai';
import { IdleProcesses } from '../../../platform/idle-processes.ts';
import { eventually } from '../../support/waiting.ts';

const NEVER = 3_600_000;

describe('idle processes', () => {
  const killed: string[] = [];
  beforeEach(() => killed.splice(0));
  const process = (name: string) => ({ name, kill: () => void killed.push(name) });

  it('gives the one that worked last', () => {
    const idle = new IdleProcesses<ReturnType<typeof process>>(NEVER);
    for (const name of ['a', 'b', 'c']) idle.put(process(name));
    expect([idle.take()?.name, idle.take()?.name, idle.take()?.name, idle.take()]).to.deep.equal([
      'c',
      'b',
      'a',
      undefined,
    ]);
  });

  it('ends those that are without work for long, and none that was taken or removed', async () => {
    const idle = new IdleProcesses<ReturnType<typeof process>>(20);
    const [taken, removed] = [process('taken'), process('removed')];
    idle.put(removed);
    idle.put(taken);
    idle.take();
    idle.remove(removed);
    for (const name of ['a', 'b']) idle.put(process(name));
    await eventually(() => killed.length === 2, { what: 'the end of two processes' });
    idle.put(process('later'));
    await eventually(() => killed.length === 3, { what: 'the end of the third' });
    expect(killed).to.deep.equal(['a', 'b', 'later']);
    expect(idle.take()).to.equal(undefined);
  });
});
