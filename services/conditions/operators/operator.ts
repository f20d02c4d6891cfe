import type { Fault } from '../../../platform/errors.ts';
import { type Fragment, sql } from '../fragment.ts';
import type { Predicate, Question, Subject, Window } from '../types.ts';

/** A filter as it was sent, of which field and operator are understood. */
export interface RawFilter {
  value?: unknown;
  unit?: unknown;
  count?: unknown;
}

/** All there is to an operator on one kind of field: what it takes, and what it means to each of the two readers. */
export interface Operator<Place, Argument> {
  /** Throws a FilterViolation. */
  read(filter: RawFilter): Argument;
  sql(place: Place, argument: Argument, question: Question): Fragment;
  decide(place: Place, argument: Argument, subject: Subject): boolean;
  /** Where time alone can change the answer: selects the ids of the contacts for which it may have. */
  drift?(place: Place, argument: Argument, window: Window, question: Question): Fragment;
  /** To decide, the oldest events must be known; the newest alone will not do. */
  oldest?: boolean;
}

export interface Entry<Place> {
  bind(place: Place, filter: RawFilter): Predicate;
}

export type Operators<Place> = Record<string, Entry<Place>>;

export const operator = <Place, Argument>(own: Operator<Place, Argument>): Entry<Place> => ({
  bind(place, filter) {
    const argument = own.read(filter);
    return {
      sql: (question) => own.sql(place, argument, question),
      decide: (subject) => own.decide(place, argument, subject),
      drift: own.drift && ((window, question) => own.drift?.(place, argument, window, question) ?? nobody),
      oldest: own.oldest ?? false,
    };
  },
});

export const nobody: Fragment = sql`select null::uuid where false`;

/** What is wrong with one filter, and in which of its parts. */
export class FilterViolation extends Error {
  readonly part: 'field' | 'operator' | 'value' | 'unit' | 'count';
  readonly code: Fault['code'];

  constructor(part: FilterViolation['part'], message: string, code: Fault['code']) {
    super(message);
    this.name = 'FilterFault';
    this.part = part;
    this.code = code;
  }
}
