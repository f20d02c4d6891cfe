import { expect } from 'chai';
import { createTemporal } from '../../temporal/connection.ts';
import { setSchedule } from '../../temporal/schedules.ts';
import { temporalSettings } from '../support/temporal-work.ts';

describe('the Schedule that sweeps segments', () => {
  // The caller must see the failure: an unhandled rejection ends the worker.
  for (const wanted of [true, false])
    it(`fails when it is ${wanted ? 'created' : 'removed'} while Temporal is unreachable`, async () => {
      const deadlines = { CreateSchedule: 500, DeleteSchedule: 500 };
      const temporal = createTemporal(temporalSettings('127.0.0.1:9'), { deadlines });
      const failure = await setSchedule(temporal, 'segmentSweep', wanted).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      await temporal.close();
    });
});
