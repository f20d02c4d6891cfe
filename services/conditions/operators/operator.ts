import { type Fragment, sql } from '../../../db/sql.ts';
import type { RawFilter } from '../../../platform/conditions/arguments.ts';
import type { ConditionQuery, Predicate, Subject, Window } from '../types.ts';

export { FilterViolation, type RawFilter } from '../../../platform/conditions/arguments.ts';

/** An operator on one kind of field: how to read its argument and how to evaluate it, as SQL and in memory. */
export interface Operator<Target, Argument> {
  /** Throws a FilterViolation. */
  read(filter: RawFilter): Argument;
  sql(target: Target, argument: Argument, query: ConditionQuery): Fragment;
  evaluate(target: Target, argument: Argument, subject: Subject): boolean;
  /** For operators whose result changes with time: selects the ids of contacts for which it may have changed. */
  drift?(target: Target, argument: Argument, window: Window, query: ConditionQuery): Fragment;
  /** In-memory evaluation needs the oldest events, not only the newest. */
  needsOldest?: boolean;
}

export interface BindableOperator<Target> {
  bind(target: Target, filter: RawFilter): Predicate;
}

export type Operators<Target> = Record<string, BindableOperator<Target>>;

export const operator = <Target, Argument>(definition: Operator<Target, Argument>): BindableOperator<Target> => ({
  bind(target, filter) {
    const argument = definition.read(filter);
    return {
      sql: (query) => definition.sql(target, argument, query),
      evaluate: (subject) => definition.evaluate(target, argument, subject),
      drift: definition.drift && ((window, query) => definition.drift?.(target, argument, window, query) ?? noContacts),
      needsOldest: definition.needsOldest ?? false,
    };
  },
});

export const noContacts: Fragment = sql`select null::uuid where false`;
