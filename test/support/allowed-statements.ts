/** A statement of the API that may use a tenant table without naming the project. */
export interface AllowedStatement {
  /** The name of a prepared statement, or the normalized text that the watcher reports. */
  statement: string;
  /** The tables and functions that it may use this way; any other still fails. */
  tables: string[];
  reason: string;
}

const allow = (reason: string, tables: string[], ...statements: string[]): AllowedStatement[] =>
  statements.map((statement) => ({ statement, tables, reason }));

export const allowedStatements: AllowedStatement[] = [
  ...allow('A key identifies its project.', ['projects', 'scoped_keys'], 'key-secret', 'key-public'),
  ...allow(
    'A user reads the projects of their own memberships.',
    ['memberships', 'projects'],
    'select "memberships".* from "memberships" where "user_id" = $n order by "project_id" asc',
    'select count(*) as "count" from (select "memberships".* from "memberships" where "user_id" = $n and "status" = $n) as "temp"',
    'select count(*) as "count" from (select "memberships".* from "memberships" where "user_id" = $n and "role" = $n) as "temp"',
    'projects-of-user',
  ),
  ...allow(
    'An account token is found by its hash or its user; only an invitation has a project.',
    ['user_tokens'],
    'token-find',
    'token-use',
    'delete from "user_tokens" where "user_id" = $n',
    'delete from "user_tokens" where "user_id" = $n and "purpose" in ($n)',
  ),
  ...allow(
    'A user reads the log of their own account.',
    ['audit_log'],
    'select count(*)::integer as count from (select 1 from audit_log where user_id = $n and at > now() - make_interval(days => $n) limit 20001) counted',
    'select id, at, at::text as exact_at, actor_type, actor_id, ip, request_id, action, target_type, target_id, changes from audit_log where user_id = $n and at > now() - make_interval(days => $n) order by at desc, id desc limit $n',
    'select id, at, at::text as exact_at, actor_type, actor_id, ip, request_id, action, target_type, target_id, changes from audit_log where user_id = $n and at > now() - make_interval(days => $n) and (at, id) < ($n::timestamptz, $n::uuid) order by at desc, id desc limit $n',
  ),
  ...allow(
    'A user reads their own notifications, of the projects that they are a member of.',
    ['notifications', 'memberships', 'projects'],
    'notifications-page',
    'notifications-count',
    'notifications-read',
  ),
  ...allow(
    'A signed link in a mail identifies its contact, and the contact its project.',
    ['campaigns', 'contacts', 'emails', 'project_pages', 'projects'],
    'page-visit',
  ),
  ...allow(
    'A signed link in a confirmation identifies its submission, and the submission its project.',
    ['emails', 'form_submissions', 'forms', 'projects'],
    'confirmation-read',
  ),
  ...allow(
    'Visitors name a form by its id, which is public; the form names its project.',
    ['forms'],
    'select "forms".* from "forms" where "forms"."id" = $n and "status" = $n and "deleted_at" is null',
    'select "allowed_origins" from "forms" where "forms"."id" = $n and "deleted_at" is null',
  ),
  ...allow(
    "A notice identifies a mail by a signed link or by the provider's id; the project follows from the mail.",
    ['email_notices'],
    'notices-append',
  ),
  ...allow(
    'Stripe names its customer, which belongs to one project.',
    ['project_billing'],
    'update "project_billing" set "subscription_id" = $n, "subscription_status" = $n, "period_start" = $n, "period_end" = $n, "event_at" = $n, "updated_at" = $n where "customer_id" = $n and ("event_at" is null or "event_at" <= $n) returning "project_id"',
  ),
  ...allow('Uploads are public to every client that knows the key.', ['uploads'], 'upload-find'),
  ...allow(
    'A verified domain name is exclusive across all projects; only the name is read.',
    ['domains'],
    'select "domain" from "domains" where "status" = $n and "domain" in ($n) and not "project_id" = $n',
  ),
  ...allow('The id of the attachment set was created in this request.', ['email_attachments'], 'attachment-store'),
  ...allow(
    'A set of attachments is deleted with the last mail that names it; the sets belong to mails of the project.',
    ['email_contents'],
    'attachments-remove',
  ),
  ...allow(
    'The id of the job was created in this request; the job itself, with the project, is inserted in the same transaction.',
    ['job_chunks', 'job_inputs'],
    'insert into "job_chunks" ("contact_ids", "job_id", "number") values ($n) returning "job_id", "number"',
    'insert into "job_chunks" ("content", "job_id", "number") values ($n) returning "job_id", "number"',
    'insert into "job_inputs" ("job_id", "options") values ($n) returning "job_id"',
    'insert into "job_inputs" ("bytes", "job_id", "options") values ($n) returning "job_id"',
  ),
  ...allow('The worker calls it without a project; the API always passes one.', ['emails'], 'emails-release'),
  ...allow(
    'Segments and contacts were read within the project; the ids of the new events belong to them.',
    ['segment_members', 'segments'],
    'segments-move',
  ),
  ...allow(
    'Operators see all projects of the installation.',
    ['projects', 'memberships', 'counters', 'counter_deltas', 'past_rate_hours'],
    'operator-projects',
    'operator-projects-count',
  ),
  ...allow(
    'Operators see the queues of the installation, and retry what is parked.',
    ['emails', 'email_notices', 'event_queue', 'outbox', 'outgoing_mails', 'webhook_endpoints', 'webhook_queue'],
    'operator-unknown',
    'operator-failing-endpoints',
    'operator-queues',
    'mail-backlog',
    'outbox-depth',
    'outbox-parked',
    'outbox-parked-lock',
    'outbox-unpark',
  ),
  ...allow('Recounts the members of segments of any project.', ['segment_recounts', 'segments'], 'segments-recount'),
];
