import { expect } from 'chai';
import { ensureSchedules, setSchedule } from '../../temporal/schedules.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

describe('the Schedules of the platform', () => {
  let temporal: OwnNamespace;

  before(async () => {
    temporal = await ownNamespace();
  });
  after(() => temporal.close());

  const handleOf = (id: string) => temporal.client.schedule.getHandle(id);
  const intervalOf = async (id: string) => (await handleOf(id).describe()).spec.intervals?.[0]?.every;

  it('run the reconciler at once when they are created, and only then', async () => {
    await ensureSchedules(temporal);
    const runs = async () => (await handleOf('reconciler').describe()).info.numActionsTaken;
    await eventually(async () => (await runs()) === 1, { what: 'the first run' });
    await ensureSchedules(temporal);
    expect(await runs()).to.equal(1);
    expect((await handleOf('retention').describe()).info.numActionsTaken).to.equal(0);
  });

  it('get the interval of this version, and stay paused if they are', async () => {
    await handleOf('reconciler').pause('by an operator');
    await handleOf('reconciler').update((schedule) => ({ ...schedule, spec: { intervals: [{ every: '7 minutes' }] } }));
    await eventually(async () => (await intervalOf('reconciler')) === 7 * 60_000, { what: 'the old interval' });
    await ensureSchedules(temporal);
    await eventually(async () => (await intervalOf('reconciler')) === 3 * 60_000, { what: 'the interval' });
    expect((await handleOf('reconciler').describe()).state.paused).to.equal(true);
  });

  it('sweep segments only while it is wanted', async () => {
    await setSchedule(temporal, 'segmentSweep', true);
    expect(await intervalOf('segments/sweep')).to.equal(60_000);
    await setSchedule(temporal, 'segmentSweep', false);
    const error = await intervalOf('segments/sweep').catch((reason: Error) => reason.name);
    expect(error).to.equal('ScheduleNotFoundError');
  });
});
