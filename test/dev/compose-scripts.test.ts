import { randomUUID } from 'node:crypto';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { toStderr } from '../../dev/report.ts';
import { root } from '../../dev/root.ts';
import { execute } from '../../dev/run.ts';
import { findTemporalCli } from '../../dev/temporal-server.ts';
import { createTemporal } from '../../temporal/connection.ts';
import { runDirectory } from '../support/cleanup.ts';
import { devServer } from '../support/temporal.ts';
import { temporalSettings } from '../support/temporal-work.ts';

// test/e2e/cluster.ci.ts runs the other script, temporal-schema.sh.
describe('ops/compose/temporal-namespace.sh', () => {
  it('creates the namespace once', async () => {
    const { address } = await devServer();
    const bin = mkdtempSync(join(runDirectory(), 'bin-'));
    symlinkSync(await findTemporalCli((line) => line.startsWith('Temporal ') || toStderr(line)), join(bin, 'temporal'));
    const namespace = `compose-${randomUUID()}`;
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: bin,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
    };
    const script = resolve(root, 'ops/compose/temporal-namespace.sh');
    for (let run = 1; run <= 2; run++) await execute('sh', [script], { env });
    const temporal = createTemporal(temporalSettings(address, namespace));
    expect(await temporal.check()).to.equal(true);
    await temporal.close();
  });
});
