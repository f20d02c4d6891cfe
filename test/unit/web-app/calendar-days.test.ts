import { expect } from 'chai';
import { addDays, addMonths, readDay, weeksOf } from '../../../web/app/src/ui/calendar-days.ts';

describe('days of a calendar', () => {
  it('adds days and months, and ends at the last day of a shorter month', () => {
    expect(addDays('2026-02-28', 1)).to.equal('2026-03-01');
    expect(addDays('2028-03-01', -1)).to.equal('2028-02-29');
    expect(addMonths('2026-01-31', 1)).to.equal('2026-02-28');
    expect(addMonths('2026-01-15', -1)).to.equal('2025-12-15');
  });

  it('shows six weeks that contain the month, from the first day of the week', () => {
    const weeks = weeksOf('2026-11-19', 1);
    expect(weeks[0]?.[0]).to.equal('2026-10-26');
    expect(weeks).to.have.length(6);
    expect(weeks.flat()).to.include.members(['2026-11-01', '2026-11-30']);
    expect(weeksOf('2026-11-19', 7)[0]?.[0]).to.equal('2026-11-01');
  });

  for (const [text, isMonthFirst, day] of [
    ['2026-11-05', true, '2026-11-05'],
    ['11/5/2026', true, '2026-11-05'],
    ['5/11/2026', false, '2026-11-05'],
    ['5.11.2026', true, '2026-11-05'],
    ['31.02.2026', false, undefined],
    ['5.11.26', false, undefined],
    ['tomorrow', false, undefined],
  ] as const)
    it(`reads ${text} as ${day}`, () => expect(readDay(text, isMonthFirst)).to.equal(day));
});
