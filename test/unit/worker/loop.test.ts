import { expect } from 'chai';
import { pino } from 'pino';
import { Loop, type RoundResult } from '../../../worker/loop.ts';
import { eventually } from '../../support/waiting.ts';

const NEVER = 3_600_000;

describe('a loop', () => {
  const running: Loop[] = [];
  afterEach(() => Promise.all(running.splice(0).map((loop) => loop.stop())));

  /** Ends its rounds as told, then idles. */
  function loop(paces: (RoundResult | Error)[], { idleMs = NEVER, troubleMs = NEVER } = {}) {
    const rounds = { count: 0 };
    const round = async (): Promise<RoundResult> => {
      const pace = paces[rounds.count++] ?? 'idle';
      if (pace instanceof Error) throw pace;
      return pace;
    };
    const made = new Loop({ name: 'test', round, idleMs, troubleMs, log: pino({ level: 'silent' }) });
    running.push(made);
    const reaches = (count: number) => eventually(() => rounds.count >= count, { what: `round ${count}` });
    return { loop: made, rounds, reaches };
  }

  it('goes on at once while there is more, and then rests', async () => {
    const { rounds, reaches } = loop(['more', 'more', 'idle']);
    await reaches(3);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rounds.count).to.equal(3);
  });

  it('works when it is woken, also when that happens in the middle of a round', async () => {
    const { loop: made, reaches } = loop(['idle']);
    made.wake();
    await reaches(2);
    made.wake();
    await reaches(3);
  });

  it('looks by itself now and then', async () => {
    const { reaches } = loop([], { idleMs: 5 });
    await reaches(3);
  });

  it('does not listen to wake-ups while there is trouble, and tries again by itself', async () => {
    const troubled = loop(['trouble']);
    await troubled.reaches(1);
    await new Promise((resolve) => setImmediate(resolve));
    troubled.loop.wake();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(troubled.rounds.count).to.equal(1);
    const patient = loop(['trouble', new Error('the database is away'), 'idle'], { idleMs: 5, troubleMs: 10 });
    await patient.reaches(3);
  });

  it('finishes its round before it ends', async () => {
    let finished = false;
    const round = async (): Promise<RoundResult> => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      finished = true;
      return 'more';
    };
    const made = new Loop({ name: 'test', round, idleMs: 1, troubleMs: 1, log: pino({ level: 'silent' }) });
    await made.stop();
    expect(finished).to.equal(true);
  });
});
