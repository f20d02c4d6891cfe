// Creates what `whole` needs in the database of one checkout, with the modules of that checkout: two projects as `npm
// start` creates them, one with contacts for a campaign. Imports little, so that it also runs in earlier revisions.
import { join } from 'node:path';
import { connectDb } from '../db/connect.ts';
import { demoCredentials } from '../dev/stack/demo.ts';
import { readSettings } from '../platform/settings.ts';

export interface SetupOrder {
  databaseUrl: string;
  /** Where the credentials are written. */
  folder: string;
  contacts: number;
}

export interface SetupProject {
  projectId: string;
  secretKey: string;
  publicKey: string;
  senderDomain: string;
}

export interface SetupAnswer {
  sending: SetupProject;
  campaigns: SetupProject;
}

async function setUp({ databaseUrl, folder, contacts }: SetupOrder): Promise<SetupAnswer> {
  const db = connectDb({ databaseUrl, poolSize: 2, name: 'bench' });
  const { secretKeys } = readSettings();
  const project = (file: string) =>
    demoCredentials(db, { file: join(folder, file), shared: true, report: () => {}, secretKeys });
  const sending = await project('sending.json');
  const campaigns = await project('campaigns.json');
  await db.raw(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), ?, 'user' || n || '@d' || n % 20 || '.example.com', true, jsonb_build_object('name', 'Ann ' || n)
     -- One recipient domain never gets all connections, so there are several.
     from generate_series(1, ?::integer) n`,
    [campaigns.projectId, contacts],
  );
  await db.destroy();
  return { sending, campaigns };
}

process.on('message', (order: SetupOrder) => {
  setUp(order).then(
    (answer) => process.send?.(answer, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
