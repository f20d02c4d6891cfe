/**
 * SQL: the only way in which statements write events. Inserts the rows of `select`: (id, project_id, contact_id, name, data,
 * email_id, depth), in their order of reading. The contacts must be locked. Database functions use `record_event`. Triggers
 * on the table do the rest (`process_added_events`).
 */
export const insertEventsSql = (select: string): string =>
  `insert into events (id, project_id, contact_id, name, data, email_id, depth) ${select}`;
