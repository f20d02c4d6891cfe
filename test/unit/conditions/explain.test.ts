import { expect } from 'chai';
import fc from 'fast-check';
import { decides } from '../../../services/conditions/evaluate.ts';
import { explain } from '../../../services/conditions/explain.ts';
import type { Condition, Group, Predicate, Subject } from '../../../services/conditions/types.ts';

const subject = {} as Subject;
const predicate = (answer: boolean): Predicate => ({ evaluate: () => answer }) as unknown as Predicate;
const predicates = fc.boolean().map(predicate);

const { condition } = fc.letrec<{ condition: Condition; group: Group }>((tie) => ({
  group: fc.record({
    filters: fc.array(predicates, { minLength: 1, maxLength: 3 }),
    condition: fc.option(tie('condition'), { nil: undefined, maxDepth: 2 }),
  }),
  condition: fc.record({
    logic: fc.constantFrom('AND' as const, 'OR' as const),
    groups: fc.array(tie('group'), { minLength: 1, maxLength: 3 }),
  }),
}));

/** The same tree with the results of the filters at these paths negated. */
const negated = (given: Condition, paths: Set<string>, at = ''): Condition => ({
  ...given,
  groups: given.groups.map((group, n) => ({
    filters: group.filters.map((filter, m) =>
      predicate(filter.evaluate(subject) !== paths.has(`${at}groups.${n}.filters.${m}`)),
    ),
    condition: group.condition && negated(group.condition, paths, `${at}groups.${n}.conditions.`),
  })),
});

describe('explaining a condition', () => {
  it('returns the same result as evaluation', () => {
    fc.assert(
      fc.property(condition, (tree) => {
        expect(explain(tree, subject).holds).to.equal(decides(tree, subject));
      }),
    );
  });

  it('marks filters as decisive such that negating the others never changes the result', () => {
    fc.assert(
      fc.property(condition, (tree) => {
        const { holds, filters } = explain(tree, subject);
        expect(filters.some(({ decisive }) => decisive)).to.equal(true);
        const others = new Set(filters.filter(({ decisive }) => !decisive).map(({ path }) => path));
        expect(decides(negated(tree, others), subject)).to.equal(holds);
      }),
    );
  });

  it('marks the first failing part of AND and the first matching part of OR as decisive', () => {
    const of = (logic: Condition['logic'], ...given: boolean[]): Condition => ({
      logic,
      groups: given.map((answer) => ({ filters: [predicate(answer)], condition: undefined })),
    });
    const decisive = (tree: Condition) =>
      explain(tree, subject)
        .filters.filter((filter) => filter.decisive)
        .map(({ path }) => path);
    expect(decisive(of('AND', true, false, false))).to.deep.equal(['groups.1.filters.0']);
    expect(decisive(of('OR', false, true, true))).to.deep.equal(['groups.1.filters.0']);
    expect(decisive(of('AND', true, true))).to.deep.equal(['groups.0.filters.0', 'groups.1.filters.0']);
    expect(decisive(of('OR', false, false))).to.deep.equal(['groups.0.filters.0', 'groups.1.filters.0']);
  });
});
