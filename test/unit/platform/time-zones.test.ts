import { expect } from 'chai';
import { isTimezone, zonedTime } from '../../../platform/time-zones.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Nights in which clocks change somewhere, Samoa's lost day among them. */
const nights = [
  '2011-12-30',
  '2026-10-04',
  '2026-10-25',
  '2026-11-01',
  '2027-03-14',
  '2027-03-28',
  '2027-04-04',
  '2027-04-30',
];
const times = ['00:00', '00:30', '01:00', '01:30', '01:59', '02:00', '02:15', '02:30', '03:00', '09:00', '23:30'];

const zones = ['UTC', 'Asia/Kolkata', 'US/Pacific', ...Intl.supportedValuesOf('timeZone')];

/** Returns a function for the offset that `Intl` names, which is not how the program finds it. */
function offsetsOf(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  return (at) => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign = '+', hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE);
  };
}

interface Change {
  /** The first minute with the offset after it. */
  at: number;
  before: number;
  after: number;
}

/** Returns the change of clocks around a night, found by bisection. Without one both offsets are the same. */
function changeAround(night: string, offsetAt: (at: number) => number): Change {
  let low = Date.parse(`${night}T00:00Z`) - 36 * HOUR;
  let high = low + 84 * HOUR;
  const [before, after] = [offsetAt(low), offsetAt(high)];
  if (before === after) return { at: high, before, after };
  while (high - low > MINUTE) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return { at: high, before, after };
}

describe('moments of local times', () => {
  it('are those of Intl in every zone in nights of change: the first of two, and after a gap as much later', () => {
    const counts = { twice: 0, skipped: 0 };
    for (const zone of zones) {
      const offsetAt = offsetsOf(zone);
      for (const night of nights) {
        const { at, before, after } = changeAround(night, offsetAt);
        const [year = 0, month = 0, day = 0] = night.split('-').map(Number);
        for (const time of times) {
          const wanted = Date.parse(`${night}T${time}Z`);
          const isBefore = wanted - before < at;
          const isAfter = wanted - after >= at;
          if (isBefore && isAfter && before !== after) counts.twice++;
          if (!isBefore && !isAfter) counts.skipped++;
          const expected = isBefore || !isAfter ? wanted - before : wanted - after;
          const found = zonedTime({ year, month, day }, time, zone).getTime();
          if (found !== expected)
            expect(new Date(found).toISOString(), `${zone} ${night} ${time}`).to.equal(
              new Date(expected).toISOString(),
            );
        }
      }
    }
    // The nights were chosen well.
    expect(counts.twice).to.be.greaterThan(100);
    expect(counts.skipped).to.be.greaterThan(100);
  }).timeout(120_000);

  it('move half an hour on Lord Howe, and a day in Samoa', () => {
    const at = (day: [number, number, number], time: string, zone: string) =>
      zonedTime({ year: day[0], month: day[1], day: day[2] }, time, zone).toISOString();
    expect(at([2026, 10, 4], '02:15', 'Australia/Lord_Howe')).to.equal('2026-10-03T15:45:00.000Z');
    expect(at([2027, 4, 4], '01:45', 'Australia/Lord_Howe')).to.equal('2027-04-03T14:45:00.000Z');
    expect(at([2011, 12, 30], '09:00', 'Pacific/Apia')).to.equal('2011-12-30T19:00:00.000Z');
    expect(at([2011, 12, 31], '09:00', 'Pacific/Apia')).to.equal('2011-12-30T19:00:00.000Z');
  });

  it('knows old names, and no offsets, abbreviations of nothing or other texts', () => {
    for (const name of ['UTC', 'europe/berlin', 'US/Pacific', 'Asia/Kolkata', 'Etc/GMT+12'])
      expect(isTimezone(name)).to.equal(true);
    for (const name of ['+02:00', '', 'Mars/Base', 'Berlin', 'true']) expect(isTimezone(name)).to.equal(false);
  });
});
