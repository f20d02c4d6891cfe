import { expect } from 'chai';
import { type ApiProject, type Client, client, startTestApi, type TestApi } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { countRows } from '../support/rows/tables.ts';

interface Shown {
  id: string;
  domain: string;
  status: string;
  records: { type: string; name: string; value: string; required: boolean }[];
}

describe('verified senders with two API processes', () => {
  let database: ConnectedDatabase;
  let dns: DnsStandIn;
  let apis: TestApi[];
  let project: ApiProject;
  let servers: [Client, Client];
  let made = 0;

  before(async () => {
    database = await connectTestDatabase(5);
    dns = await startDns();
    const env = { DNS_SERVERS: dns.address, SECRET_KEY: 'a secret key for these tests' };
    const one = await startTestApi({ database, env });
    const two = await startTestApi({ database, env });
    apis = [one, two];
    project = await one.project();
    servers = [project.server, client(two.url, { authorization: `Bearer ${project.secretKey}` })];
  });
  after(async () => {
    for (const api of apis) await api.stop();
    await dns.stop();
    await database.close();
  });

  const publish = ({ records }: Shown) => {
    for (const { type, name, value, required } of records)
      if (required && type === 'TXT') dns.set(name, 'TXT', [value.match(/.{1,255}/g) ?? []]);
  };
  const withdraw = ({ records }: Shown) => {
    for (const { name } of records) dns.remove(name);
  };
  const check = async ({ id }: Shown): Promise<string> =>
    (await project.server.get(`/domains/${id}/verify`)).body.status;
  const add = async (domain = `shop${++made}.example`): Promise<Shown> => {
    const answer = await project.server.post('/domains', { domain });
    expect(answer).to.have.status(201);
    publish(answer.body);
    expect(await check(answer.body)).to.equal('VERIFIED');
    return answer.body;
  };
  const send = (server: Client, { domain }: Shown, headers = {}) =>
    server.post('/v1/send', { to: 'ann@example.com', from: `me@${domain}`, subject: 'Hi', body: 'Hi' }, headers);
  const statuses = async (domain: Shown, headers = {}) => {
    const answers = await Promise.all(servers.map((server) => send(server, domain, headers)));
    return answers.map(({ status }) => status);
  };
  const mails = () => countRows(database.db, 'emails', { projectId: project.id });

  it('follow the last check, whichever process made it', async () => {
    const domain = await add();
    for (let round = 0; round < 2; round++) {
      expect(await statuses(domain)).to.deep.equal([200, 200]);
      const before = await mails();
      withdraw(domain);
      for (const status of ['VERIFIED', 'VERIFIED', 'PENDING']) expect(await check(domain)).to.equal(status);
      const refused = await send(servers[1], domain);
      expect(refused).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      expect(refused.body.error.suggestion).to.contain(domain.domain);
      expect(refused.body.error.details).to.deep.equal({ code: 'DOMAIN_NOT_VERIFIED', domain: domain.domain });
      expect(await statuses(domain)).to.deep.equal([403, 403]);
      expect(await mails()).to.equal(before);
      publish(domain);
      expect(await check(domain)).to.equal('VERIFIED');
    }
    expect(await statuses(domain)).to.deep.equal([200, 200]);
  });

  it('are rejected by both once a deletion is answered, also with an Idempotency-Key, until verified again', async () => {
    const domain = await add();
    expect(await statuses(domain)).to.deep.equal([200, 200]);
    expect(await project.server.delete(`/domains/${domain.id}`)).to.have.status(204);
    const before = await mails();
    expect(await send(servers[1], domain, { 'idempotency-key': 'once' })).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
    expect(await statuses(domain)).to.deep.equal([403, 403]);
    expect(await mails()).to.equal(before);
    const again = await add(domain.domain);
    // A rejected request does not consume the key.
    expect(await send(servers[1], again, { 'idempotency-key': 'once' })).to.have.status(200);
    expect(await statuses(again)).to.deep.equal([200, 200]);
  });
});
