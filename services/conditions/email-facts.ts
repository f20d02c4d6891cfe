import type { Db } from '../../db/connect.ts';
import { sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import type { Violation } from '../../platform/errors.ts';
import { countingEmails, questionId } from './email-results.ts';
import type { ConditionQuery, EmailCounts, EmailQuestion, SubjectEmails, Uses } from './types.ts';

export const NO_EMAIL_COUNTS: SubjectEmails = new Map();

// A campaign that was deleted after it was sent keeps its row and its recipients.
const findUnknown = statement<{ name: string }>(
  'condition-unknown-emails',
  `select wanted.name from unnest($2::text[]) as wanted (name),
     lateral (select split_part(name, '.', 1) as kind, split_part(name, '.', 2)::uuid as id where name <> 'campaigns') asked
   where not case kind
     when 'campaign' then exists (select from campaigns c where c.project_id = $1 and c.id = asked.id)
     when 'template' then exists (select from templates t where t.project_id = $1 and t.id = asked.id)
     else exists (
       select from workflows w join workflow_versions v on v.workflow_id = w.id
       where w.project_id = $1
         and v.graph @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('id', asked.id))))
   end`,
);

/** Returns a violation for each filter on a campaign, template or step that the project does not have. */
export async function emailViolations(
  db: Db,
  projectId: string,
  { emailSources }: Pick<Uses, 'emailSources'>,
): Promise<Violation[]> {
  if (emailSources.size === 0) return [];
  const unknown = await findUnknown(db, [projectId, [...emailSources.keys()]]);
  return unknown.flatMap(({ name }) =>
    (emailSources.get(name) ?? []).map((field) => ({
      field,
      message: `"${field}" names a ${name.slice(0, name.indexOf('.'))} that does not exist`,
      code: 'custom' as const,
    })),
  );
}

interface CountsRow extends EmailCounts {
  contactId: string;
  n: number;
}

/** Returns what the questions of a condition count, by contact. */
export async function loadEmailCounts(
  db: Db,
  query: ConditionQuery,
  contactIds: string[],
  questions: readonly EmailQuestion[],
): Promise<Map<string, Map<string, EmailCounts>>> {
  const found = new Map<string, Map<string, EmailCounts>>();
  const ids = questions.map(questionId);
  const distinct = questions.filter((_, n) => ids.indexOf(ids[n] ?? '') === n);
  if (distinct.length === 0) return found;
  const rows = await queryRows<CountsRow>(
    db,
    sql`select c.id as contact_id, counted.* from contacts c cross join lateral (${countingEmails(distinct, query)}) counted
        where c.project_id = ${query.projectId} and c.id = any (${contactIds}::uuid[])`,
  );
  for (const { contactId, n, received, matching } of rows) {
    const question = distinct[n];
    if (!question) continue;
    const counts = found.get(contactId) ?? new Map<string, EmailCounts>();
    counts.set(questionId(question), { received, matching });
    found.set(contactId, counts);
  }
  return found;
}
