/**
 * SQL: the only way in which statements write rows of the ledger. Continue it with a relation that has `id`, `contact_id` and
 * the further `columns`.
 */
export const insertLedgerRowsFrom = (projectId: string, columns: string): string =>
  `insert into emails (id, project_id, contact_id, ${columns}) select id, ${projectId}, contact_id, ${columns} from`;

/** The columns of `content` for `insertEmailsSql`, for values that come as JSON (`EmailContent`). */
export const emailContentColumns = `n integer, body_id uuid, html text, headers jsonb, shared boolean, untracked boolean,
  from_email text, from_name text, reply_to text, subject text, type text, variables jsonb, attachment_set uuid`;

/** What emails of one request share. `null` and undefined are the same. */
export interface EmailContent {
  n: number;
  body_id: string;
  /** Undefined where the body is stored already. */
  html?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Whether other requests may use the body too (`sharedBodyId`). */
  shared: boolean;
  untracked?: boolean;
  from_email: string;
  from_name?: string | null | undefined;
  reply_to?: string | null;
  subject: string;
  type: string;
  variables?: object | undefined;
  attachment_set?: string | null;
}

/**
 * SQL: the only way in which statements write emails with their contents, as the CTEs `bodies`, `contents` and `accepted`,
 * which has the new rows of the ledger. Expects two CTEs, both materialized: `content` (`emailContentColumns`) and `mail` with
 * `content` (its `n`), `id`, `contact_id`, `email`, `name` and the further `columns` of the ledger.
 */
export const insertEmailsSql = (projectId: string, columns: string): string => `
   -- After the contacts and in order, so that statements that share bodies do not wait for each other in a circle.
   bodies as (
     insert into email_bodies (id, project_id, html, headers, shared)
     select body_id, ${projectId}, html, headers, shared from content
     where html is not null and (select count(*) from mail) > 0 order by body_id
     on conflict do nothing
   ),
   contents as (
     insert into email_contents
       (email_id, project_id, body_id, to_email, to_name, from_email, from_name, reply_to, subject, type, variables,
        attachment_set, untracked)
     select mail.id, ${projectId}, c.body_id, mail.email, mail.name, c.from_email, c.from_name, c.reply_to, c.subject,
       c.type, c.variables, c.attachment_set, coalesce(c.untracked, false)
     from mail join content c on c.n = mail.content
   ),
   accepted as (
     ${insertLedgerRowsFrom(projectId, columns)} mail
     returning id, contact_id, without_events, submission_id, status, reason, created_at
   )`;
