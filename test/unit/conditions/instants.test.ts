import { expect } from 'chai';
import { before, instantOf, parseMoment } from '../../../services/conditions/instants.ts';

describe('dates in conditions', () => {
  const read: [text: string, iso: string | undefined][] = [
    ['2026-03-31T12:00:00Z', '2026-03-31T12:00:00.000Z'],
    ['2026-03-31T12:00:00.5Z', '2026-03-31T12:00:00.500Z'],
    ['2026-03-31T12:00:00.123999999Z', '2026-03-31T12:00:00.123Z'],
    ['2026-03-31T00:30:00+01:00', '2026-03-30T23:30:00.000Z'],
    ['2026-03-31T23:30:00-05:30', '2026-04-01T05:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', undefined],
    ['2026-02-29T00:00:00Z', undefined],
    ['2026-13-01T00:00:00Z', undefined],
    ['2026-03-31T24:00:00Z', undefined],
    ['2026-03-31T12:00:60Z', undefined],
    ['2026-03-31T12:00:00', undefined],
    ['2026-03-31T12:00Z', undefined],
    ['2026-03-31 12:00:00Z', undefined],
    ['2026-03-31T12:00:00Z\n', undefined],
    ['2026-03-31', undefined],
    ['', undefined],
  ];
  for (const [text, iso] of read)
    it(`parses ${JSON.stringify(text)} as ${iso ?? 'no date-time'}`, () => {
      const instant = instantOf(text);
      expect(instant === undefined ? undefined : new Date(instant).toISOString()).to.equal(iso);
    });

  it('parses a date as the beginning of its UTC day where dates are allowed', () => {
    expect(parseMoment('2026-03-31')).to.equal(Date.UTC(2026, 2, 31));
    expect(parseMoment('2026-02-30')).to.equal(undefined);
  });

  const earlier: [now: string, amount: number, unit: 'minutes' | 'hours' | 'days' | 'weeks' | 'months', iso: string][] =
    [
      ['2026-03-31T12:00:00Z', 1, 'months', '2026-02-28T12:00:00.000Z'],
      ['2024-03-31T12:00:00Z', 1, 'months', '2024-02-29T12:00:00.000Z'],
      ['2026-01-15T00:00:00Z', 14, 'months', '2024-11-15T00:00:00.000Z'],
      ['2026-01-01T00:00:00Z', 1, 'weeks', '2025-12-25T00:00:00.000Z'],
      ['2026-01-01T00:00:00Z', 1.5, 'days', '2025-12-30T12:00:00.000Z'],
      ['2026-01-01T00:00:00Z', 2, 'hours', '2025-12-31T22:00:00.000Z'],
      ['2026-01-01T00:00:00Z', 0.5, 'minutes', '2025-12-31T23:59:30.000Z'],
    ];
  for (const [now, amount, unit, iso] of earlier)
    it(`subtracts ${amount} ${unit} from ${now}: ${iso}`, () => {
      expect(new Date(before(new Date(now), { amount, unit })).toISOString()).to.equal(iso);
    });
});
