import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { Project } from '../../db/models/project.ts';
import { statement } from '../../db/statement.ts';
import { findContact } from '../contacts/find.ts';
import { type ContactTopics, readContactTopics } from './choices.ts';
import { type Consent, consentsOf } from './consents.ts';

/** An email whose link was used for a consent. */
export interface ProofEmail {
  id: string;
  subject: string | null;
  sentAt: Date | null;
}

/** Who caused a consent. A key without a name is the project's own. */
export interface ProofActor {
  type: 'USER' | 'KEY';
  name: string | null;
}

/** Everything that shows what a contact agreed to. */
export interface Proof {
  projectName: string;
  language: string;
  contact: ContactRecord;
  preferences: ContactTopics;
  /** The oldest first. */
  consents: Consent[];
  /** There are more records than the page shows. */
  isCut: boolean;
  topicNames: Map<string, string>;
  emails: Map<string, ProofEmail>;
  formNames: Map<string, string>;
  /** By id. */
  actors: Map<string, ProofActor>;
  madeAt: Date;
}

const MAX_RECORDS = 2_000;

const findTopicNames = statement<{ id: string; name: string }>(
  'proof-topics',
  'select id, name from topics where project_id = $1 and id = any ($2::uuid[])',
);
const findEmails = statement<ProofEmail>(
  'proof-emails',
  `select e.id, coalesce(c.rendered_subject, e.rendered_subject, c.subject, k.subject) as subject, e.sent_at
   from emails e left join email_contents c on c.email_id = e.id left join campaigns k on k.id = e.campaign_id and k.project_id = $1
   where e.project_id = $1 and e.id = any ($2::uuid[])`,
);

const findFormNames = statement<{ id: string; name: string }>(
  'proof-forms',
  'select id, name from forms where project_id = $1 and id = any ($2::uuid[])',
);
// People are shown by their address, as in the audit log.
const findActors = statement<ProofActor & { id: string }>(
  'proof-actors',
  `select id, 'USER' as type, email as name from users where id = any ($2::uuid[])
   union all
   select id, 'KEY', name from scoped_keys where project_id = $1 and id = any ($2::uuid[])
   union all
   select id, 'KEY', null from projects where id = $1 and id = any ($2::uuid[])`,
);

export async function readProof(db: Db, projectId: string, contactId: string): Promise<Proof> {
  const contact = await findContact(db, projectId, contactId);
  const preferences = await readContactTopics(db, projectId, contact.id);
  const consents: Consent[] = [];
  for await (const page of consentsOf(db, projectId, contact.id)) {
    consents.push(...page);
    if (consents.length > MAX_RECORDS) break;
  }
  const shown = consents.slice(0, MAX_RECORDS);
  const [topics, emails, forms, actors, project] = await Promise.all([
    findTopicNames(db, [projectId, shown.flatMap(({ topicId }) => topicId ?? [])]),
    findEmails(db, [projectId, shown.flatMap(({ emailId }) => emailId ?? [])]),
    findFormNames(db, [projectId, shown.flatMap(({ formId }) => formId ?? [])]),
    findActors(db, [projectId, shown.flatMap(({ actor }) => actor?.id ?? [])]),
    Project.query(db).findById(projectId).select('name', 'language'),
  ]);
  return {
    projectName: project?.name ?? '',
    language: project?.language ?? 'en',
    contact,
    preferences,
    consents: shown,
    isCut: consents.length > shown.length,
    topicNames: new Map(topics.map(({ id, name }) => [id, name])),
    emails: new Map(emails.map((email) => [email.id, email])),
    formNames: new Map(forms.map(({ id, name }) => [id, name])),
    actors: new Map(actors.map((actor) => [actor.id, actor])),
    madeAt: new Date(),
  };
}
