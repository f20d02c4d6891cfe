// People with accounts, as the API sees them.
import type { Db } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { createSession } from '../../services/sessions/sessions.ts';
import { SYSTEM_PROJECT_ID } from '../../services/system/project.ts';
import { createUser } from '../../services/users/create.ts';
import { type ApiAnswer, type Client, client, type TestApi } from './api.ts';

export interface Person extends Client {
  id: string;
  email: string;
  password: string;
  cookie: string;
}

let people = 0;

/** A user with a session; `role` makes them a member of that project. */
export async function person(
  api: Pick<TestApi, 'db' | 'url'>,
  member?: { project: string; role: Role },
  { emailVerified = true } = {},
): Promise<Person> {
  const email = `person${++people}@people.example`;
  const password = 'correct horse';
  const { id } = await createUser(api.db, { email, password, emailVerified });
  if (member) await Membership.query(api.db).insert({ projectId: member.project, userId: id, role: member.role });
  const cookie = `everpost_session=${await createSession(api.db, id)}`;
  return { id, email, password, cookie, ...client(api.url, { cookie }) };
}

interface Sent {
  subject: string;
  paragraphs: string[];
  link?: { url: string; text: string };
}

/** Our own mail to an address, oldest first. */
export async function systemMails(db: Db, to: string): Promise<Sent[]> {
  const rows = await db('emailContents')
    .where({ projectId: SYSTEM_PROJECT_ID, toEmail: to })
    .orderBy('emailId')
    .select('variables');
  return rows.map(({ variables }) => variables.systemMail);
}

/** What the link in the newest mail of ours to this address ends in. */
export async function tokenTo(db: Db, to: string): Promise<string> {
  const url = (await systemMails(db, to)).findLast(({ link }) => link)?.link?.url;
  if (!url) throw new Error(`there is no mail with a link to ${to}`);
  return url.slice(url.lastIndexOf('/') + 1);
}

/** The session that an answer gave, as a cookie to send. */
export function cookieOf(answer: ApiAnswer): string {
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return pair;
}
