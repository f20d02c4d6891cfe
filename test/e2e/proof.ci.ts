// The short form of `npm run proof`: sends, tracks and campaigns while processes and Postgres die.
import { expect } from 'chai';
import { CORE_LOAD } from '../../proof/chaos/load.ts';
import { planFaults } from '../../proof/chaos/plan.ts';
import { runChaos } from '../../proof/chaos/run.ts';

const SEED = 27;

describe('the proof, in short', function () {
  this.timeout(600_000);

  it('plans the same faults for the same seed, and every kind in a long run', () => {
    const options = { seed: SEED, lengthMs: 30 * 60_000 };
    const plan = planFaults(options);
    expect(planFaults(options)).to.deep.equal(plan);
    expect(planFaults({ ...options, seed: SEED + 1 })).not.to.deep.equal(plan);
    expect(new Set(plan.map(({ kind }) => kind)).size).to.equal(8);
    for (const { atMs, forMs } of plan) expect(atMs + forMs).to.be.at.most(options.lengthMs * 0.8);
  });

  it('loses and doubles nothing while APIs, workers and Postgres are killed', async () => {
    const lines: string[] = [];
    const rows = await runChaos({
      seed: SEED,
      lengthMs: 15_000,
      report: (line) => void lines.push(line),
      weights: CORE_LOAD,
      customers: 6,
      faults: { kinds: ['kill', 'kill', 'postgres-restart'], pauseMs: [1_000, 2_000] },
      // Without deferrals and hangs, which take a minute.
      stack: { shares: { refuse: 3, 'drop-before': 2, 'drop-after': 2 } },
    });
    const violations = rows.flatMap(({ what, violations }) => violations.map((violation) => `${what}: ${violation}`));
    expect(violations, lines.join('\n')).to.deep.equal([]);
    expect(lines.filter((line) => /kill|restart/.test(line))).to.have.length.of.at.least(3);
  });
});
