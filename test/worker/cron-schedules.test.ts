import { expect } from 'chai';
import { setCronSchedule } from '../../temporal/cron-schedules.ts';
import { ensureSearchAttributes } from '../../temporal/search-attributes.ts';
import { bareNamespace } from '../support/temporal-work.ts';

describe('the Schedule of a workflow', () => {
  const wanted = { paused: true, workflowType: 'cronTick', args: [] };

  it('fires on the day of the month and on the day of the week, as a crontab does', async () => {
    const temporal = await bareNamespace();
    await ensureSearchAttributes(temporal);
    const nextOf = async (cron: string, timezone = 'UTC') => {
      await setCronSchedule(temporal, 'cron', { ...wanted, cron, timezone });
      const { info } = await temporal.client.schedule.getHandle('cron').describe();
      return info.nextActionTimes;
    };
    const days = (await nextOf('0 9 1 * mon')).slice(0, 6);
    expect(days.filter((day) => day.getUTCDay() === 1)).to.have.length.greaterThan(3);
    expect(days.filter((day) => day.getUTCDay() !== 1 && day.getUTCDate() !== 1)).to.deep.equal([]);
    for (const day of await nextOf('0 9 * * 1')) expect(day.getUTCDay()).to.equal(1);
    for (const day of await nextOf('0 9 1 * *')) expect(day.getUTCDate()).to.equal(1);
    // In any spelling of the time zone.
    expect(await nextOf('0 9 1 7 *', 'europe/berlin')).to.deep.equal(await nextOf('0 7 1 7 *', 'utc'));
    await temporal.close();
  });
});
