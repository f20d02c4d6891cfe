/**
 * The one way in which statements write events: an insert of what `select` gives, which must be (id, project_id,
 * contact_id, name, data, email_id, depth), in the order in which they shall be read. The contacts must be locked.
 * Functions in the database have the same in `record_event`. Whoever wants to know of events has a trigger on the table.
 */
export const recordingEvents = (select: string): string =>
  `insert into events (id, project_id, contact_id, name, data, email_id, depth) ${select}`;
