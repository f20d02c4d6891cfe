// The demo user, project, keys and domain: created at the first start and reused by later ones.
import { readFileSync } from 'node:fs';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { Membership } from '../../db/models/membership.ts';
import { User } from '../../db/models/user.ts';
import { hashPassword } from '../../platform/crypto/secrets.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { randomText } from '../../platform/ids.ts';
import { DEMO_DOMAIN } from '../../platform/settings.ts';
import { findByKey, regenerateKeys } from '../../services/access/keys.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { createProject } from '../../services/projects/create.ts';
import { createUser } from '../../services/users/create.ts';
import type { ReportProgress } from '../report.ts';
import { writeSecretFile } from './secret-file.ts';

export interface Credentials {
  projectId: string;
  publicKey: string;
  secretKey: string;
  senderDomain: string;
  user: { email: string; password: string };
}

const DOMAIN = DEMO_DOMAIN;

export interface DemoOptions {
  file: string;
  /** The database is not our own: a demo project of another stack is left alone, and a second one is created. */
  shared: boolean;
  report: ReportProgress;
  /** Encrypts the demo domain's DKIM key. */
  secretKeys?: SigningKeys;
}

export async function demoCredentials(db: Db, { file, shared, report, secretKeys }: DemoOptions): Promise<Credentials> {
  const stored = read(file);
  const isOurs = stored && (await ownerOf(db, stored.senderDomain)) === stored.projectId;
  if (isOurs) {
    const access = await findByKey(db, stored.secretKey);
    if (access?.projectId === stored.projectId) return stored;
    report(`The keys of the demo project have been changed since; those in ${file} no longer open it.`);
    return stored;
  }
  const existing = await ownerOf(db, DOMAIN);
  // The file is written before the commit: a crash between the two leaves keys that do not work, but loses none that do.
  return inTransaction(db, async (trx) => {
    const replace = existing && !shared;
    const domain = existing ? `demo-${randomText(8).toLowerCase()}.localhost` : DOMAIN;
    const credentials = replace ? await replaceSecrets(trx, existing) : await createDemo(trx, domain, secretKeys);
    writeSecretFile(file, credentials);
    if (replace) report(`${file} was lost or belongs to other data: the demo project has new keys and a new password.`);
    return credentials;
  });
}

const ownerOf = async (db: Db, domain: string): Promise<string | undefined> =>
  (await Domain.query(db).findOne({ domain, managed: true }))?.projectId;

async function createDemo(trx: Db, senderDomain: string, secretKeys?: SigningKeys): Promise<Credentials> {
  const email = `owner@${senderDomain}`;
  const password = randomText(20);
  const user = await createUser(trx, { email, password, emailVerified: true });
  const { project, publicKey, secretKey } = await createProject(trx, { name: 'Demo', ownerId: user.id });
  await addManagedDomain(trx, project.id, senderDomain, secretKeys);
  return { projectId: project.id, publicKey, secretKey, senderDomain, user: { email, password } };
}

/** Replaces keys and password of an existing demo whose credentials file was lost: only hashes are stored. */
async function replaceSecrets(trx: Db, projectId: string): Promise<Credentials> {
  const password = randomText(20);
  const owner = await Membership.query(trx).findOne({ projectId, role: 'OWNER' }).throwIfNotFound();
  const user = await User.query(trx)
    .patchAndFetchById(owner.userId, { passwordHash: await hashPassword(password) })
    .throwIfNotFound();
  const keys = await regenerateKeys(trx, projectId);
  return { projectId, ...keys, senderDomain: DOMAIN, user: { email: user.email, password } };
}

function read(file: string): Credentials | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Credentials;
  } catch {
    return undefined;
  }
}
