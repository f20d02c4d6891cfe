import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Child, startChild, waitUntilReady } from '../../dev/child.ts';
import { freePort } from '../../dev/ports.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { type ApiProject, createProjectWithClients } from '../support/api.ts';
import { atEnd, runDirectory } from '../support/cleanup.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { withoutSettings } from '../support/processes.ts';

describe('an API on a full disk', () => {
  let database: ConnectedDatabase;
  let api: Child;
  let url: string;
  let project: ApiProject;

  before(async () => {
    database = await connectTestDatabase(2);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    api = await startChild({
      name: 'api',
      // No file may be longer than 16 blocks of 512 or 1,024 bytes, which depends on the shell.
      command: 'sh',
      args: ['-c', 'ulimit -f 16 && exec "$0" "$@"', process.execPath, join(await compiledProgram(), 'api/server.js')],
      cwd: root,
      env: {
        ...withoutSettings(process.env),
        ...{ NODE_ENV: 'test', HOST: '127.0.0.1', PORT: String(port), BASE_URL: url, LOG_LEVEL: 'debug' },
        ...{ DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1' },
      },
      logFile: join(runDirectory(), `api-${randomUUID()}.log`),
    });
    atEnd(async () => void (await api.kill()));
    await waitUntilReady(api, 60_000, async () => (await fetch(`${url}/health`)).ok);
    project = await createProjectWithClients(database.db, url);
  });
  after(async () => {
    await api.kill();
    await database.close();
  });

  const upload = async (rows: number): Promise<Response> => {
    const form = new FormData();
    const lines = Array.from({ length: rows }, (_, n) => `contact${n}@example.com`);
    form.append('file', new Blob([`email\n${lines.join('\n')}\n`], { type: 'text/csv' }), 'contacts.csv');
    const headers = { authorization: `Bearer ${project.secretKey}` };
    return fetch(`${url}/contacts/import`, { method: 'POST', headers, body: form });
  };

  it('refuses a file that it cannot store to its end', async () => {
    const refused = await upload(2_000);
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('30');
    expect(await refused.text()).to.include('no space');
    expect(await database.db('jobs').where({ projectId: project.id })).to.deep.equal([]);
    expect((await upload(10)).status).to.equal(202);
  });

  it('goes on without its log', async () => {
    for (let n = 0; n < 200; n++) expect(await project.server.get('/contacts/none')).to.have.status(404);
    expect(statSync(api.logFile).size, 'the log has reached the limit').to.be.oneOf([8_192, 16_384]);
    expect(api.hasExited()).to.equal(false);
  });
});
