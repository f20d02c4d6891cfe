import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectDb, type Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { query } from '../../dev/postgres.ts';
import { root } from '../../dev/root.ts';
import { readSettings } from '../../platform/settings.ts';
import { cleanContactIndexes } from '../../services/contacts/upkeep.ts';
import { createDomain } from '../../services/domains/create.ts';
import { sendEmails } from '../../services/emails/send.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { trackEvent } from '../../services/events/track.ts';
import { resetProject } from '../../services/removal/project.ts';
import { addMonths } from '../../services/retention/partitions.ts';
import { makeProject } from '../support/connected-database.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';

describe('the database role of docker compose', () => {
  const suffix = randomUUID().slice(0, 8);
  const app = `app_${suffix}`;
  let server: TestDatabase;
  let db: Db;
  let url: string;

  before(async () => {
    server = await createEmptyDatabase();
    const script = readFileSync(join(root, 'db/roles.sh'), 'utf8');
    const [, sql = ''] = /<<'SQL'\n([\s\S]*)SQL\n/.exec(script) ?? [];
    const statements = sql
      .replace(/\beverpost\b/g, app)
      .replace(/\btemporal\b/g, `temporal_${suffix}`)
      .replaceAll(":'password'", "'secret'")
      .split(';\n')
      .filter((statement) => statement.trim() && !statement.includes('role postgres'));
    for (const statement of statements) await query(server.url, statement);
    const own = new URL(server.url);
    own.username = app;
    own.password = 'secret';
    own.pathname = `/${app}`;
    url = own.href;
  });
  after(async () => {
    await db?.destroy();
    await query(server.url, `drop database ${app} with (force)`);
    await query(server.url, `drop role ${app}`);
    await query(server.url, `drop role temporal_${suffix}`);
    await server.drop();
  });

  it('runs every migration and the work of API and worker without superuser rights', async () => {
    expect(await migrate(url)).to.include('001-baseline');
    db = connectDb({ databaseUrl: url, poolSize: 5 });
    const { rows } = await db.raw('select current_user as name, rolsuper from pg_roles where rolname = current_user');
    expect(rows).to.deep.equal([{ name: app, rolsuper: false }]);
    const project = await makeProject(db);
    const email = 'ann@example.com';
    await trackEvent(db, project.access, { email, event: 'seen' });
    const from = { email: `a@${project.senderDomain}` };
    const { emails } = await sendEmails(db, project.access, { to: [{ email }], from, subject: 's', body: 'b' });
    expect(emails).to.have.length(1);
    await createDomain(db, project.access, 'plain.example', readSettings({}));
    await addMonths(db);
    await aggregateEventCounts(db);
    await cleanContactIndexes(db);
    await resetProject(db, project.id);
    expect(await db('contacts').where({ projectId: project.id })).to.have.length(0);
  });
});
