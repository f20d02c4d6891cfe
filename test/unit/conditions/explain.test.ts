import { expect } from 'chai';
import fc from 'fast-check';
import { explain } from '../../../services/conditions/explain.ts';
import { decides } from '../../../services/conditions/read.ts';
import type { Condition, Group, Predicate, Subject } from '../../../services/conditions/types.ts';

const nobody = {} as Subject;
const says = (answer: boolean): Predicate => ({ decide: () => answer }) as unknown as Predicate;
const answers = fc.boolean().map(says);

const { condition } = fc.letrec<{ condition: Condition; group: Group }>((tie) => ({
  group: fc.record({
    filters: fc.array(answers, { minLength: 1, maxLength: 3 }),
    condition: fc.option(tie('condition'), { nil: undefined, maxDepth: 2 }),
  }),
  condition: fc.record({
    logic: fc.constantFrom('AND' as const, 'OR' as const),
    groups: fc.array(tie('group'), { minLength: 1, maxLength: 3 }),
  }),
}));

/** The same tree, in which every filter at one of these paths says the opposite. */
const turned = (given: Condition, paths: Set<string>, at = ''): Condition => ({
  ...given,
  groups: given.groups.map((group, n) => ({
    filters: group.filters.map((filter, m) =>
      says(filter.decide(nobody) !== paths.has(`${at}groups.${n}.filters.${m}`)),
    ),
    condition: group.condition && turned(group.condition, paths, `${at}groups.${n}.conditions.`),
  })),
});

describe('why a condition holds, or does not', () => {
  it('agrees with whether it does', () => {
    fc.assert(
      fc.property(condition, (tree) => {
        expect(explain(tree, nobody).holds).to.equal(decides(tree, nobody));
      }),
    );
  });

  it('names filters on which the answer hangs: all others may say what they like', () => {
    fc.assert(
      fc.property(condition, (tree) => {
        const { holds, filters } = explain(tree, nobody);
        expect(filters.some(({ decisive }) => decisive)).to.equal(true);
        const others = new Set(filters.filter(({ decisive }) => !decisive).map(({ path }) => path));
        expect(decides(turned(tree, others), nobody)).to.equal(holds);
      }),
    );
  });

  it('names the first that fails where all must hold, and the first that holds where one is enough', () => {
    const of = (logic: Condition['logic'], ...given: boolean[]): Condition => ({
      logic,
      groups: given.map((answer) => ({ filters: [says(answer)], condition: undefined })),
    });
    const decisive = (tree: Condition) =>
      explain(tree, nobody)
        .filters.filter((filter) => filter.decisive)
        .map(({ path }) => path);
    expect(decisive(of('AND', true, false, false))).to.deep.equal(['groups.1.filters.0']);
    expect(decisive(of('OR', false, true, true))).to.deep.equal(['groups.1.filters.0']);
    expect(decisive(of('AND', true, true))).to.deep.equal(['groups.0.filters.0', 'groups.1.filters.0']);
    expect(decisive(of('OR', false, false))).to.deep.equal(['groups.0.filters.0', 'groups.1.filters.0']);
  });
});
