import { plural } from '../../format.ts';

export const timing = {
  byClocks: "At a time, by each person's own clock",
  sendAtHint: 'In the time zone of each person: the field timezone of the contact, else the time zone of the project.',
  sendAtNeeded: 'Choose a time that is still ahead somewhere.',
  late: 'Where this time has passed already',
  lateRules: {
    NOW: 'Send at once',
    NEXT_DAY: 'Send at this time of the next day',
    SKIP: 'Skip these people',
  },
  zones: 'When people get it',
  zone: 'Time zone',
  people: 'People',
  yourTime: 'In your time',
  past: 'passed',
  span: (first: string, last: string) => (first === last ? `Starts ${first}.` : `Starts ${first}, ends ${last}.`),
  lateCount: (count: number) =>
    `For ${plural(count, { one: 'person', other: 'people' })} this time has passed already.`,
  moreZones: (zones: number, people: number) =>
    `And ${plural(zones, { one: 'time zone', other: 'time zones' })} with ${plural(people, { one: 'person', other: 'people' })}.`,
  withoutTimezone: (count: number) =>
    `${plural(count, { one: 'person has', other: 'people have' })} no time zone and are counted in that of the project.`,
  noRecipients: 'There are no recipients yet.',
  atTheirClock: (time: string) => `${time}, by each person's own clock`,
  startsByClocks: (time: string) => `Each person gets it at ${time} by their own clock`,
  firstPlace: (time: string) => `Who gets it is decided ${time}, when the first place on earth reaches this time.`,
  sendText: (name: string, time: string) =>
    `${name} goes out at ${time} by each person's own clock. You can pause it or cancel the rest at any time.`,
  until: (time: string) => `until ${time}`,
};
