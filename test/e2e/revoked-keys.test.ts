import { expect } from 'chai';
import { type ApiProject, type Client, client, createProjectWithClients } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';
import { countRows } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

interface Load {
  key: string;
  /** Status and start of every request. */
  answers: { status: number; startedAt: number }[];
}

describe('revoking keys under load in two API processes', () => {
  let database: ConnectedDatabase;
  let apis: ServiceProcess[];
  let project: ApiProject;

  before(async () => {
    database = await connectTestDatabase(10);
    const env = { DATABASE_URL: database.url, RATE_LIMIT_PER_MINUTE: '0' };
    apis = await Promise.all([startApi(env), startApi(env)]);
    project = await createProjectWithClients(database.db, apis[0]?.url ?? '');
  });
  after(async () => {
    for (const api of apis) await api.stop();
    await database.close();
  });

  it('rejects every later request with a revoked key, and none with another key', async () => {
    const path = `/projects/${project.id}/keys`;
    const make = async (name: string) => (await project.owner.post(path, { name, scopes: ['send:write'] })).body;
    const kept = await make('kept');
    const revoked = [await make('first'), await make('second'), await make('third')];
    let stopped = false;
    const from = `news@${project.senderDomain}`;
    const send = (caller: Client, n: number) =>
      caller.post('/v1/send', { to: `p${n % 50}@example.com`, from, subject: 's', body: 'b' });
    const loads: Load[] = [];
    const running: Promise<void>[] = [];
    const run = (key: string, lanes: number) => {
      for (const { url } of apis)
        for (let lane = 0; lane < lanes; lane++) {
          const load: Load = { key, answers: [] };
          loads.push(load);
          const caller = client(url, { authorization: `Bearer ${key}` });
          running.push(
            (async () => {
              for (let n = lane; !stopped; n += 7) {
                const startedAt = performance.now();
                load.answers.push({ startedAt, status: (await send(caller, n)).status });
              }
            })(),
          );
        }
    };
    for (const { key } of [kept, ...revoked]) run(key, 2);
    run(project.secretKey, 2);
    const each = (least: number) => eventually(() => loads.every(({ answers }) => answers.length >= least));
    await each(10);
    const endedAt = new Map<string, number>();
    for (const { id, key } of revoked) {
      // Creating one meanwhile disturbs nobody either.
      const another = await make('another');
      expect(await project.owner.delete(`${path}/${id}`)).to.have.status(204);
      endedAt.set(key, performance.now());
      expect(await project.owner.delete(`${path}/${another.id}`)).to.have.status(204);
      await each(Math.max(...loads.map(({ answers }) => answers.length)) + 5);
    }
    stopped = true;
    await Promise.all(running);

    let accepted = 0;
    for (const { key, answers } of loads) {
      const end = endedAt.get(key);
      const statuses = (which: (startedAt: number) => boolean) => [
        ...new Set(answers.filter(({ startedAt }) => which(startedAt)).map(({ status }) => status)),
      ];
      accepted += answers.filter(({ status }) => status === 200).length;
      if (end === undefined) expect(statuses(() => true)).to.deep.equal([200]);
      else {
        expect(statuses((startedAt) => startedAt > end)).to.deep.equal([401]);
        expect(statuses((startedAt) => startedAt <= end)).to.include(200);
      }
    }
    const stored = await countRows(database.db, 'emails', { projectId: project.id });
    expect(stored, 'mails of accepted requests').to.equal(accepted);
  });
});
