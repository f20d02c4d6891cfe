import { sql } from '../../../db/sql.ts';
import { crossingEmails, hasEmails, hasOutcome, isReceived, questionId } from '../email-results.ts';
import type { EmailCounts, EmailOutcome, EmailQuestion, EmailSource, Subject } from '../types.ts';
import { readCount, readSpan } from './arguments.ts';
import { type BindableOperator, FilterViolation, type Operators, operator, type RawFilter } from './operator.ts';

export const MAX_LAST = 50;
const MAX_LINK = 4_000;
const MAX_VARIANT = 100;

interface Asked {
  question: EmailQuestion;
  atLeast: number;
}

/** Whether a contact matches: it has emails with the outcome, it received some and none has it, or the opposite. */
type Sense = 'some' | 'none' | 'not';

interface Meaning {
  outcome: EmailOutcome;
  sense: Sense;
}

const meanings = {
  received: { outcome: 'received', sense: 'some' },
  notReceived: { outcome: 'received', sense: 'not' },
  opened: { outcome: 'opened', sense: 'some' },
  notOpened: { outcome: 'opened', sense: 'none' },
  clicked: { outcome: 'clicked', sense: 'some' },
  notClicked: { outcome: 'clicked', sense: 'none' },
  bounced: { outcome: 'bounced', sense: 'some' },
  complained: { outcome: 'complained', sense: 'some' },
  unsubscribed: { outcome: 'unsubscribed', sense: 'some' },
  missed: { outcome: 'missed', sense: 'some' },
  heldOut: { outcome: 'heldOut', sense: 'some' },
  receivedWithin: { outcome: 'receivedWithin', sense: 'some' },
  receivedOlderThan: { outcome: 'receivedOlderThan', sense: 'some' },
} satisfies Record<string, Meaning>;

const NO_EMAILS: EmailCounts = { received: 0, matching: 0 };

const countsOf = (question: EmailQuestion, { emails }: Subject): EmailCounts =>
  emails.get(questionId(question)) ?? NO_EMAILS;

const resultOperator = ({ outcome, sense }: Meaning): BindableOperator<EmailSource> => {
  const isTimed = outcome === 'receivedWithin' || outcome === 'receivedOlderThan';
  return {
    bind: (source, filter) =>
      operator<EmailSource, Asked>({
        read: (given) => ({ question: readQuestion(source, outcome, given), atLeast: readCount(given) }),
        sql: (_, { question, atLeast }, query) => {
          const has = hasEmails(question, hasOutcome(question, query), sense === 'none' ? 1 : atLeast, query);
          if (sense === 'some') return has;
          if (sense === 'not') return sql`not ${has}`;
          // A contact has one email of a campaign, so that one lookup answers.
          if (source.kind === 'campaign')
            return hasEmails(question, sql`${isReceived} and not ${hasOutcome(question, query)}`, 1, query);
          return sql`(${hasEmails(question, isReceived, atLeast, query)} and not ${has})`;
        },
        evaluate: (_, { question, atLeast }, subject) => {
          const { received, matching } = countsOf(question, subject);
          if (sense === 'none') return received >= atLeast && matching === 0;
          return matching >= atLeast === (sense === 'some');
        },
        ...(isTimed && { drift: (_, { question }, window, query) => crossingEmails(question, window, query) }),
      }).bind(source, filter),
  };
};

export const resultOperators: Operators<EmailSource> = Object.fromEntries(
  Object.entries(meanings).map(([name, meaning]) => [name, resultOperator(meaning)]),
);

/** The question of a valid filter, for what evaluating it needs. */
export function questionOf(source: EmailSource, operatorName: string, filter: RawFilter): EmailQuestion {
  const meaning = Object.entries(meanings).find(([name]) => name === operatorName)?.[1];
  if (!meaning) throw new Error(`no operator on emails: ${operatorName}`);
  return readQuestion(source, meaning.outcome, filter);
}

function readQuestion(source: EmailSource, outcome: EmailOutcome, filter: RawFilter): EmailQuestion {
  const { last, count, link, machine } = filter;
  for (const [part, given] of Object.entries({ last, count }))
    if (isGiven(given) && source.kind !== 'campaigns')
      throw new FilterViolation(part as 'last' | 'count', 'goes with the field campaigns only', 'custom');
  if (isGiven(link) && outcome !== 'clicked')
    throw new FilterViolation('link', 'goes with clicked and notClicked only', 'custom');
  if (isGiven(machine) && typeof machine !== 'boolean')
    throw new FilterViolation('machine', 'must be true or false', 'invalid_type');
  const isTimed = outcome === 'receivedWithin' || outcome === 'receivedOlderThan';
  return {
    source,
    outcome,
    link: readOptionalText(filter, 'link', MAX_LINK),
    variant: readOptionalText(filter, 'variant', MAX_VARIANT),
    last: readLast(last),
    machine: machine === true,
    span: isTimed ? readSpan(filter) : undefined,
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function readOptionalText(filter: RawFilter, part: 'link' | 'variant', max: number): string | undefined {
  const text = filter[part];
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') throw new FilterViolation(part, 'must be text', 'invalid_type');
  if (text === '') throw new FilterViolation(part, 'must not be empty', 'too_small');
  if (text.length > max) throw new FilterViolation(part, `must be at most ${max} characters long`, 'too_big');
  if (/\0|\p{Surrogate}/u.test(text))
    throw new FilterViolation(part, 'contains a character that cannot be stored', 'invalid_string');
  return text;
}

function readLast(last: unknown): number | undefined {
  if (last === undefined || last === null) return undefined;
  if (typeof last !== 'number' || !Number.isInteger(last))
    throw new FilterViolation('last', 'must be a whole number', 'invalid_type');
  if (last < 1) throw new FilterViolation('last', 'must be at least 1', 'too_small');
  if (last > MAX_LAST) throw new FilterViolation('last', `must be at most ${MAX_LAST}`, 'too_big');
  return last;
}
