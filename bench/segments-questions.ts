/** A statement that an expert would write for the question, for one project. */
export type HandWritten = (projectId: string) => { text: string; values: unknown[] };

interface Question {
  condition: object;
  /** Several variants, of which the fastest counts. */
  count: HandWritten[];
  page: HandWritten[];
}

export const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });

const where = (condition: string, ...values: unknown[]): Pick<Question, 'count' | 'page'> => {
  const all = `from contacts c where project_id = ? and ${condition}`;
  const order = 'order by created_at desc, id desc limit 20';
  const one =
    (text: string): HandWritten =>
    (projectId) => ({ text, values: [projectId, ...values] });
  return {
    count: [one(`select count(*) ${all}`)],
    page: [
      one(`select * ${all} ${order}`),
      one(`with found as materialized (select id, created_at ${all})
        select c.* from (select id from found ${order}) page join contacts c using (id) order by c.created_at desc, c.id desc`),
      (projectId) => ({
        text: `select * from (
            (select * ${all} and subscribed ${order}) union all (select * ${all} and not subscribed ${order})
          ) both_states ${order}`,
        values: [projectId, ...values, projectId, ...values],
      }),
    ],
  };
};

const monthAgo = () => new Date(Date.now() - 30 * 86_400_000);
const has = (data: object) => JSON.stringify(data);
const inData = (key: string, value: unknown) => ({ field: `data.${key}`, operator: 'equals', value });

const lately = where(
  `exists (select 1 from events e where e.project_id = c.project_id and e.contact_id = c.id and e.name = 'purchase'
    and e.created_at >= ?)`,
  monthAgo(),
);
const never = where(
  `not exists (select 1 from events e where e.project_id = c.project_id and e.contact_id = c.id and e.name = 'login')`,
);

export const questions: Record<string, Question> = {
  'one equality': { condition: tree(inData('city', 'city7')), ...where('data @> ?::jsonb', has({ city: 'city7' })) },
  'and of three': {
    condition: tree(inData('plan', 'pro'), inData('country', 'c7'), {
      field: 'data.seats',
      operator: 'greaterThan',
      value: 50,
    }),
    ...where(
      `data @> ?::jsonb and case when jsonb_typeof(data -> 'seats') = 'number' then (data ->> 'seats')::numeric > 50 end`,
      has({ plan: 'pro', country: 'c7' }),
    ),
  },
  'or of two groups, nested': {
    condition: {
      logic: 'OR',
      groups: [
        { filters: [{ field: 'data.city', operator: 'in', value: ['city1', 'city2', 'city3'] }] },
        {
          filters: [inData('plan', 'team')],
          conditions: {
            logic: 'OR',
            groups: [{ filters: [inData('country', 'c1')] }, { filters: [inData('country', 'c2')] }],
          },
        },
      ],
    },
    ...where(
      '(data @> any (?::jsonb[]) or data @> any (?::jsonb[]))',
      ['city1', 'city2', 'city3'].map((city) => has({ city })),
      ['c1', 'c2'].map((country) => has({ plan: 'team', country })),
    ),
  },
  'triggeredWithin 30 days': {
    condition: tree({ field: 'purchase', operator: 'triggeredWithin', value: 30, unit: 'days' }),
    page: lately.page,
    count: [
      ...lately.count,
      (projectId) => ({
        text: `select count(*) from contacts where project_id = ? and id in (
            select contact_id from events where project_id = ? and name = 'purchase' and created_at >= ?)`,
        values: [projectId, projectId, monthAgo()],
      }),
      (projectId) => ({
        text: `select count(distinct e.contact_id) from events e join contacts c on c.id = e.contact_id
          where e.project_id = ? and name = 'purchase' and e.created_at >= ?`,
        values: [projectId, monthAgo()],
      }),
    ],
  },
  notTriggered: {
    condition: tree({ field: 'login', operator: 'notTriggered' }),
    page: never.page,
    count: [
      ...never.count,
      (projectId) => ({
        text: `select (select count(*) from contacts where project_id = ?) - (
            select count(*) from (select distinct contact_id from events where project_id = ? and name = 'login') e
            join contacts c on c.id = e.contact_id)`,
        values: [projectId, projectId],
      }),
    ],
  },
};
