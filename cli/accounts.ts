import { UniqueViolationError } from 'objection';
import { User } from '../db/models/user.ts';
import { parseAddress } from '../platform/address.ts';
import { randomText } from '../platform/ids.ts';
import { MAX_PROJECT_NAME_LENGTH, nameViolation, normalizeName } from '../platform/names.ts';
import { regenerateKeys } from '../services/access/keys.ts';
import { createProject } from '../services/projects/create.ts';
import { disableProject, enableProject } from '../services/projects/disable.ts';
import { createUser } from '../services/users/create.ts';
import { withDb } from './environment.ts';
import type { CommandResult } from './output.ts';

const MIN_PASSWORD = 8;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export async function userCreate({ email, password }: { email: string; password?: string }): Promise<CommandResult> {
  const address = parseAddress(email);
  if (!address) throw new Error(`"${email}" is not an email address.`);
  if (password !== undefined && password.length < MIN_PASSWORD)
    throw new Error(`The password must have at least ${MIN_PASSWORD} characters.`);
  const secret = password ?? randomText(20);
  return withDb(async (db) => {
    const user = await createUser(db, { email: address, password: secret, emailVerified: true }).catch((error) => {
      throw error instanceof UniqueViolationError ? new Error(`There is a user ${address} already.`) : error;
    });
    const generated = password === undefined ? { password: secret } : {};
    return {
      lines: [
        `user ${user.id} ${address}`,
        ...(generated.password ? [`password ${generated.password} (shown here and nowhere else)`] : []),
      ],
      json: { user: { id: user.id, email: address, ...generated } },
    };
  });
}

export async function projectCreate({ name, owner }: { name: string; owner: string }): Promise<CommandResult> {
  const plain = normalizeName(name);
  const violation = nameViolation(name) ?? nameViolation(plain);
  if (violation) throw new Error(`The name ${violation}.`);
  if (plain.length > MAX_PROJECT_NAME_LENGTH)
    throw new Error(`The name must have at most ${MAX_PROJECT_NAME_LENGTH} characters.`);
  return withDb(async (db) => {
    const user = await User.query(db).findOne({ email: parseAddress(owner) ?? '' });
    if (!user) throw new Error(`There is no user ${owner}; make one with "everpost user create".`);
    const { project, publicKey, secretKey } = await createProject(db, { name: plain, ownerId: user.id });
    return {
      lines: [`project ${project.id} ${plain}`, ...keyLines({ publicKey, secretKey })],
      json: { project: { id: project.id, name: plain, publicKey, secretKey } },
    };
  });
}

export async function keysRotate(id: string): Promise<CommandResult> {
  return withDb(async (db) => {
    const keys = await regenerateKeys(db, requireId(id));
    return { lines: ['The old keys have ended.', ...keyLines(keys)], json: { project: { id, ...keys } } };
  });
}

export async function projectDisable(id: string, reason: string): Promise<CommandResult> {
  return withDb(async (db) => {
    const changed = await disableProject(db, requireId(id), { reason });
    return {
      lines: [changed ? `disabled: ${reason}` : 'It was disabled before.'],
      json: { project: { id, disabled: true }, changed },
    };
  });
}

export async function projectEnable(id: string): Promise<CommandResult> {
  return withDb(async (db) => {
    const changed = await enableProject(db, requireId(id));
    return {
      lines: [changed ? 'enabled; blocked mail is sent' : 'It was not disabled.'],
      json: { project: { id, disabled: false }, changed },
    };
  });
}

function requireId(id: string): string {
  if (!UUID.test(id)) throw new Error(`"${id}" is no id of a project.`);
  return id.toLowerCase();
}

const keyLines = ({ publicKey, secretKey }: { publicKey: string; secretKey: string }) => [
  `public key ${publicKey}`,
  `secret key ${secretKey} (shown here and nowhere else)`,
];
