import { connectDb, type Db } from '../../db/connect.ts';
import type { ProjectAccess } from '../../services/access/keys.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { createProject } from '../../services/projects/create.ts';
import { createDatabase } from './postgres.ts';
import { insertUser } from './users.ts';

export interface TestProject {
  access: ProjectAccess;
  id: string;
  userId: string;
  publicKey: string;
  secretKey: string;
  /** A verified domain; every project has its own, because a domain belongs to one project. */
  senderDomain: string;
}

/** A migrated database for one test file: `before(async () => { database = await connectTestDatabase(); })`. */
export interface ConnectedDatabase {
  db: Db;
  url: string;
  close(): Promise<void>;
}

export async function connectTestDatabase(poolSize = 20): Promise<ConnectedDatabase> {
  const { url, drop } = await createDatabase();
  // Longer than in production: twenty new connections take seconds while a busy machine runs all tests.
  const db = connectDb({ databaseUrl: url, poolSize, name: 'everpost-test', timeouts: { connectMs: 30_000 } });
  return {
    db,
    url,
    async close() {
      await db.destroy();
      await drop();
    },
  };
}

let projects = 0;

/** Creates a project with an owner, keys, and a domain that it may send from. */
export async function makeProject(db: Db): Promise<TestProject> {
  const n = ++projects;
  const senderDomain = `sender${n}.example`;
  const user = await insertUser(db, { email: `owner${n}@example.com` });
  const { project, publicKey, secretKey } = await createProject(db, { name: `Project ${n}`, ownerId: user.id });
  await addManagedDomain(db, project.id, senderDomain);
  const access = { projectId: project.id, keyGeneration: 1, disabled: false, disabledReason: null };
  return { access, id: project.id, userId: user.id, publicKey, secretKey, senderDomain };
}
