import { coalesceWrites, confirmed } from '../../db/coalesce-writes.ts';
import { type Db, wake } from '../../db/connect.ts';
import { insertEventsSql } from '../../db/models/event-writing.ts';
import { eventFits, fieldsFit } from '../../db/models/name-limits.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import { linkToRow } from '../../platform/tracing.ts';
import { consentContextOf } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { callerGroup, keyIdOf, openProject, refusal } from '../access/open-project.ts';
import type { Data } from '../contacts/data.ts';
import { readLimitedData, tooManyEventNames, tooManyFields } from '../contacts/limits.ts';
import { translatingContactErrors } from '../contacts/violations.ts';

export interface TrackInput {
  email: string;
  event: string;
  subscribed?: boolean | undefined;
  data?: Data | null | undefined;
}

export interface Tracked {
  contactId: string;
  eventId: string;
  timestamp: Date;
}

interface TrackRequest {
  event_id: string;
  name: string;
  seen: Data;
  email: string;
  contact_id: string;
  subscribed: boolean | undefined;
  patch: Data;
  /** Keys in `patch`. */
  fields: number;
  deletes: string[];
  change_id: string;
  /** Who changes the subscription. */
  change_data: object | undefined;
  /** Of a call with the public key. */
  origin?: string | undefined;
}

interface TrackedRow {
  eventId: string;
  contactId: string;
  createdAt: Date;
  allowed: true;
  fieldsFit: true;
  eventFits: true;
}

/** A request outside the policy of the public key, or beyond a limit of names. Nothing of it is written. */
type RefusedRow = Pick<TrackedRow, 'eventId'> & {
  createdAt: null;
  allowed: boolean;
  fieldsFit: boolean;
  eventFits: boolean;
};

/** The requests that share a statement have the same key and limits. */
interface TrackGroup {
  project: ProjectAccess;
  limits: Limits;
  /** Called with the public key, so its policy applies. */
  isPublic: boolean;
}

/** A call with the public key. */
export interface PublicCall {
  origin: string | undefined;
}

// Locks contacts in the order of their addresses, and records concurrent events of one contact in the order of their ids.
const track = statement<TrackedRow | RefusedRow>(
  'track',
  `with request as materialized (
     select request.*,
       not $7::boolean
         or ((cardinality(project.public_key_events) = 0 or request.name = any (project.public_key_events))
           and (cardinality(project.public_key_origins) = 0
             or coalesce(request.origin = any (project.public_key_origins), false)))
         as allowed,
       ${fieldsFit({ projectId: '$1', keys: 'jsonb_object_keys(request.patch)', count: 'request.fields', max: '$4' })}
         as fields_fit,
       ${eventFits({ projectId: '$1', name: 'request.name', max: '$5' })} as event_fits
     from ${openProject('$6')} as project, json_to_recordset($3::json) as request (event_id uuid, name text,
       seen jsonb, email text, contact_id uuid, subscribed boolean, patch jsonb, fields integer, deletes jsonb,
       change_id uuid, change_data jsonb, origin text)
     order by email collate "C", event_id
   ),
   contact as materialized (
     select request.event_id, request.name, request.seen, written.id
     from request, write_contact($1, request.email, request.contact_id, request.subscribed, true, request.patch,
       request.deletes, '{}', request.change_id, coalesce(request.change_data, '{}')) as written
     where request.allowed and request.fields_fit and request.event_fits
   ),
   recorded as (
     ${insertEventsSql('select event_id, $1, id, name, seen, null::uuid, cascade_depth() from contact')}
     returning id as event_id, contact_id, created_at
   )
   select event_id, contact_id, created_at, true as allowed, true as fields_fit, true as event_fits from recorded
   union all
   select event_id, null, null, allowed, fields_fit, event_fits from request
   where not (allowed and fields_fit and event_fits)`,
);

/** The condition on the time lets Postgres skip the partitions of other months. */
const findTracked = statement<TrackedRow>(
  'track-find',
  `select id as event_id, contact_id, created_at, true as allowed from events
   where project_id = $1 and id = $2 and created_at > now() - interval '1 hour'`,
);

async function trackAll(
  db: Db,
  { project, limits, isPublic }: TrackGroup,
  requests: TrackRequest[],
): Promise<(TrackedRow | RefusedRow | undefined)[]> {
  const { projectId, keyGeneration } = project;
  const rows = await track(db, [
    projectId,
    keyGeneration,
    JSON.stringify(requests),
    limits.customFields,
    limits.eventNames,
    keyIdOf(project),
    isPublic,
  ]);
  const byId = new Map(rows.map((row) => [row.eventId, row]));
  return requests.map(({ event_id }) => byId.get(event_id));
}

const trackCoalesced = coalesceWrites(trackAll, {
  key: ({ project, limits, isPublic }: TrackGroup) =>
    `${callerGroup(project)}/${isPublic}/${limits.customFields}/${limits.eventNames}`,
  maxItems: 25,
  width: 2,
});

const outsidePolicy = () =>
  new ApiError(
    403,
    'FORBIDDEN',
    'The policy of the public key does not allow this event, or tracking from this origin.',
    {
      suggestion: "An ADMIN can change the project's publicKeyPolicy.",
    },
  );

/** Writes the contact and the event in one statement: both or neither. */
export async function trackEvent(
  db: Db,
  project: ProjectAccess,
  input: TrackInput,
  limits: Limits = UNLIMITED,
  publicCall?: PublicCall,
): Promise<Tracked> {
  const { patch, deletes, seen } = readLimitedData(input.data, limits);
  const contact = { email: input.email, contact_id: newId(), subscribed: input.subscribed, patch, deletes };
  const fields = Object.keys(patch).length;
  // Ids are in the order of reading: a change of subscription comes before the event.
  const change_id = newId();
  const event_id = newId();
  const origin = publicCall?.origin?.toLowerCase();
  linkToRow(event_id);
  const change_data = input.subscribed === undefined ? undefined : { consent: consentContextOf(project) };
  const request = { ...contact, fields, change_id, change_data, event_id, name: input.event, seen, origin };
  const group = { project, limits, isPublic: publicCall !== undefined };
  const row = await confirmed(
    db,
    () => translatingContactErrors(() => retryDeadlocks(db, () => trackCoalesced(db, group, request))),
    async () => (await findTracked(db, [project.projectId, request.event_id]))[0],
  );
  if (!row) throw await refusal(db, project);
  if (!row.allowed) throw outsidePolicy();
  if (row.createdAt === null) {
    const key = publicCall ? 'public' : 'secret';
    throw row.eventFits ? tooManyFields(limits, key) : tooManyEventNames(limits, key);
  }
  wake(db, 'events');
  return { contactId: row.contactId, eventId: row.eventId, timestamp: row.createdAt };
}
