// Calls the functions of db/functions directly, on rows that are inserted without any service.
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { connectTestDatabase, makeProject } from './connected-database.ts';

type Row = Record<string, unknown>;

export interface FunctionTestDatabase {
  db: Db;
  url: string;
  /** Of the project that all rows below belong to; `renew` makes another, so that each test starts without rows. */
  projectId: string;
  senderDomain: string;
  renew(): Promise<void>;
  rows(sql: string, bindings?: unknown[]): Promise<Row[]>;
  /** The first column of the first row. */
  value(sql: string, bindings?: unknown[]): Promise<unknown>;
  /** These insert a row with the given columns in addition to the required ones, and return its id. */
  addContact(columns?: object): Promise<string>;
  addEmail(columns?: object): Promise<string>;
  addCampaign(columns?: object): Promise<string>;
  addSegment(columns?: object): Promise<string>;
  addWorkflow(columns?: object): Promise<string>;
  addExecution(columns?: object): Promise<string>;
  addAuditRow(columns?: object): Promise<string>;
  /** A dependency of a segment of its own, as of a tracked one. */
  addDependency(dependency: string): Promise<void>;
  close(): Promise<void>;
}

export async function connectFunctionTestDatabase(): Promise<FunctionTestDatabase> {
  const { db, url, close } = await connectTestDatabase(5);
  const rows = (sql: string, bindings: unknown[] = []): Promise<Row[]> => runSql(db, sql, bindings);
  const insert = async (table: string, columns: object): Promise<string> => {
    const id = newId();
    await db(table).insert({ id, projectId: database.projectId, ...columns });
    return id;
  };
  const database: FunctionTestDatabase = {
    db,
    url,
    projectId: '',
    senderDomain: '',
    renew: async () => {
      const project = await makeProject(db);
      database.projectId = project.id;
      database.senderDomain = project.senderDomain;
    },
    rows,
    value: async (sql, bindings) => Object.values((await rows(sql, bindings))[0] ?? {})[0],
    addContact: (columns) => insert('contacts', { email: `${newId()}@example.com`, subscribed: true, ...columns }),
    addEmail: (columns) => insert('emails', { contactId: newId(), ...columns }),
    addCampaign: (columns) =>
      insert('campaigns', {
        name: 'Spring',
        subject: 'Hello',
        body: '<p>Hello</p>',
        fromEmail: `news@${database.senderDomain}`,
        audienceType: 'ALL',
        ...columns,
      }),
    addSegment: (columns) => insert('segments', { slug: newId(), name: 'Members', type: 'STATIC', ...columns }),
    addWorkflow: (columns) => insert('workflows', { name: 'Welcome', validVersion: 1, ...columns }),
    addExecution: (columns) =>
      insert('executions', {
        workflowId: newId(),
        version: 1,
        contactId: newId(),
        afterPosition: 0,
        oncePerContact: false,
        ...columns,
      }),
    addAuditRow: (columns) => insert('auditLog', { actorType: 'SYSTEM', action: 'project.disabled', ...columns }),
    addDependency: async (dependency) => {
      const segmentId = await database.addSegment();
      await db('segmentDependencies').insert({ projectId: database.projectId, dependency, segmentId });
    },
    close,
  };
  await database.renew();
  return database;
}

/** For a test with a transaction of its own. */
export async function runSql(db: Db, sql: string, bindings: unknown[] = []): Promise<Row[]> {
  const { rows } = await db.raw(sql, bindings as string[]);
  return rows;
}
