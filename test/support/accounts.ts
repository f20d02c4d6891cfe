// Users with a session, and the mail that they get from us.
import type { Db } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { createSession } from '../../services/sessions/sessions.ts';
import { SYSTEM_PROJECT_ID } from '../../services/system/project.ts';
import { type ApiAnswer, type Client, client, type TestApi } from './api.ts';
import { insertUser, PASSWORD } from './users.ts';

export interface Person extends Client {
  id: string;
  email: string;
  password: string;
  cookie: string;
}

let people = 0;

/** Creates a user with a session; `member` adds them to a project. */
export async function person(
  api: Pick<TestApi, 'db' | 'url'>,
  member?: { project: string; role: Role },
  { emailVerified = true } = {},
): Promise<Person> {
  const email = `person${++people}@people.example`;
  const { id } = await insertUser(api.db, { email, emailVerified });
  if (member) await Membership.query(api.db).insert({ projectId: member.project, userId: id, role: member.role });
  const cookie = `everpost_session=${await createSession(api.db, id)}`;
  return { id, email, password: PASSWORD, cookie, ...client(api.url, { cookie }) };
}

interface SystemMail {
  subject: string;
  paragraphs: string[];
  link?: { url: string; text: string };
}

/** Returns our own mails to an address, oldest first. */
export async function systemMails(db: Db, to: string): Promise<SystemMail[]> {
  const rows = await db('emailContents')
    .where({ projectId: SYSTEM_PROJECT_ID, toEmail: to })
    .orderBy('emailId')
    .select('variables');
  return rows.map(({ variables }) => variables.systemMail);
}

/** Returns the token at the end of the link in our newest mail to the address. */
export async function tokenTo(db: Db, to: string): Promise<string> {
  const url = (await systemMails(db, to)).findLast(({ link }) => link)?.link?.url;
  if (!url) throw new Error(`there is no mail with a link to ${to}`);
  return url.slice(url.lastIndexOf('/') + 1);
}

/** Returns the session cookie that an answer set. */
export function cookieOf(answer: ApiAnswer): string {
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return pair;
}
