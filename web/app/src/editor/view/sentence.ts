// Says the test of a conditional block in words.
import { type Filter, isCondition } from '../../conditions/model.ts';
import { conditionText, filterText } from '../../conditions/sentence.ts';

export function testText(test: unknown): string {
  if (isCondition(test)) return conditionText(test);
  if (typeof test !== 'object' || test === null) return '…';
  return 'expression' in test ? String(test.expression) : filterText(test as Filter);
}
