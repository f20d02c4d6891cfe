export interface Queue {
  table: string;
  /**
   * Which rows of the table `q` wait in this queue. An index on the columns compared here, then project_id and due_at,
   * makes every step of the walk one look.
   */
  waiting: string;
  /** Which of them may go now, beside being due. */
  eligible?: string;
  /** Parameter that holds how many are wanted. */
  limit: string;
}

/**
 * Common table expressions (for `with recursive`) that let projects take turns: `candidate (id, turn, due_at)` has the
 * first due row of every project, then the second of every project, and so on. The projects are found by a walk over
 * the index that skips from one to the next, so a tenant's hundred thousand rows cost no more than one.
 *
 * More candidates than wanted are given, so that several workers who lock with SKIP LOCKED find enough for each.
 */
export function turnCtes({ table, waiting, eligible = 'true', limit }: Queue): string {
  return `
    taker as (
      (select q.project_id from ${table} q where ${waiting} order by q.project_id limit 1)
      union all
      select (select q.project_id from ${table} q where ${waiting} and q.project_id > taker.project_id
              order by q.project_id limit 1)
      from taker where taker.project_id is not null
    ),
    candidate as materialized (
      select own.id, own.turn, own.due_at
      from taker cross join lateral (
        select id, due_at, row_number() over (order by due_at, id) as turn
        from (
          select q.id, q.due_at from ${table} q
          where ${waiting} and q.project_id = taker.project_id and q.due_at <= now() and ${eligible}
          order by q.due_at
          limit (select greatest(1, ceil(${limit} * 4.0 / count(*))) from taker)
        ) first
      ) own
      order by own.turn, own.due_at, own.id
      limit ${limit} * 4
    )`;
}
