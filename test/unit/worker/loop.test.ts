import { expect } from 'chai';
import { pino } from 'pino';
import { IDLE_FACTOR, IdleMode } from '../../../worker/idle-mode.ts';
import { Loop, type LoopOptions, type RoundResult } from '../../../worker/loop.ts';
import { eventually } from '../../support/waiting.ts';

const NEVER = 3_600_000;

describe('a loop', () => {
  const running: Loop[] = [];
  afterEach(() => Promise.all(running.splice(0).map((loop) => loop.stop())));

  /** Its rounds return these results, and then `idle`. */
  function loop(
    results: (RoundResult | Error)[],
    { idleMs = NEVER, troubleMs = NEVER, idleMode }: Partial<LoopOptions> = {},
  ) {
    const rounds = { count: 0 };
    const round = async (): Promise<RoundResult> => {
      const result = results[rounds.count++] ?? 'idle';
      if (result instanceof Error) throw result;
      return result;
    };
    const made = new Loop({ name: 'test', round, idleMs, troubleMs, idleMode, log: pino({ level: 'silent' }) });
    running.push(made);
    const reaches = (count: number) => eventually(() => rounds.count >= count, { what: `round ${count}` });
    return { loop: made, rounds, reaches };
  }

  it('runs again at once while there is more, and then pauses', async () => {
    const { rounds, reaches } = loop(['more', 'more', 'idle']);
    await reaches(3);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rounds.count).to.equal(3);
  });

  it('runs again when it is woken, also during a round', async () => {
    const { loop: made, reaches } = loop(['idle']);
    made.wake();
    await reaches(2);
    made.wake();
    await reaches(3);
  });

  it('runs periodically', async () => {
    const { reaches } = loop([], { idleMs: 5 });
    await reaches(3);
  });

  it('ignores wake-ups after a failure, and retries by itself', async () => {
    const failing = loop(['trouble']);
    await failing.reaches(1);
    await new Promise((resolve) => setImmediate(resolve));
    failing.loop.wake();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(failing.rounds.count).to.equal(1);
    const retrying = loop(['trouble', new Error('the database is unavailable'), 'idle'], { idleMs: 5, troubleMs: 10 });
    await retrying.reaches(3);
  });

  it('pauses longer in idle mode, and runs at once when it ends', async () => {
    const idleMode = new IdleMode(0);
    const { rounds, reaches } = loop([], { idleMs: NEVER / IDLE_FACTOR, idleMode });
    await reaches(1);
    expect(idleMode.isOn()).to.equal(true);
    idleMode.end();
    await reaches(2);
    expect(rounds.count).to.equal(2);
  });

  it('ends idle mode when it finds work', async () => {
    const idleMode = new IdleMode(0);
    let ended = 0;
    idleMode.onEnd(() => ended++);
    await loop(['idle'], { idleMode }).reaches(1);
    expect(ended).to.equal(0);
    await loop(['more', 'idle'], { idleMode }).reaches(2);
    expect(ended).to.equal(1);
  });

  it('finishes its round before it stops', async () => {
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
