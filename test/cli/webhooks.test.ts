import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { root } from '../../dev/root.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { storedDeliveries } from '../support/rows/webhooks.ts';
import { eventually } from '../support/waiting.ts';
import { driveWebhooks, relayWebhooks } from '../support/webhooks.ts';

describe('npx everpost webhooks', () => {
  let api: TestApi;
  let project: ApiProject;
  let receiver: HttpReceiver;
  const children: ChildProcess[] = [];

  before(async () => {
    receiver = await startHttpReceiver();
    api = await startTestApi({ env: { WEBHOOK_ALLOWED_HOSTS: receiver.host } });
    project = await api.project();
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await api?.stop();
    await receiver?.stop();
  });

  function everpost(args: string[], key = project.secretKey) {
    const env = { PATH: process.env.PATH ?? '', EVERPOST_URL: api.url, EVERPOST_SECRET_KEY: key };
    const child = spawn(process.execPath, ['cli/everpost.mjs', 'webhooks', ...args], { cwd: root, env });
    children.push(child);
    const out: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => out.push(String(chunk)));
    return { child, out: () => out.join(''), exited: once(child, 'exit') as Promise<[number | null]> };
  }

  it('forwards what happens, with a signature that its secret verifies, and stores no delivery', async () => {
    const { child, out, exited } = everpost([
      'listen',
      '--forward',
      `${receiver.url}/local`,
      '--types',
      'event.*',
      '--json',
    ]);
    const line = await eventually(() => out().split('\n')[0]?.startsWith('{') && out().split('\n')[0]);
    const { secret } = JSON.parse(line as string);
    await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'heard' });
    await relayWebhooks(api.db);
    const [request] = await receiver.received(1);
    expect(request?.path).to.equal('/local');
    expect(new Webhook(secret).verify(request?.body ?? '', request?.headers as never)).to.deep.include({
      type: 'event.heard',
    });
    await eventually(() => out().includes('"result":200'));
    expect(await storedDeliveries(api.db, { projectId: project.id })).to.deep.equal([]);
    child.kill('SIGINT');
    await exited;
  });

  it('ends with an error when the API refuses the stream', async () => {
    const { out, exited } = everpost(['listen', '--forward', receiver.url], 'sk_unknown');
    expect(await exited).to.include(1);
    expect(out()).to.match(/key/);
  });

  it('replays a delivery', async () => {
    const { body } = await project.server.post('/webhook-endpoints', { url: receiver.url, types: ['event.*'] });
    const { deliveryId } = (await project.server.post(`/webhook-endpoints/${body.id}/test`)).body as {
      deliveryId: string;
    };
    const driver = driveWebhooks(api.db, [receiver.host]);
    receiver.requests.splice(0);
    await driver.deliver(body.id);
    const { out, exited } = everpost(['replay', deliveryId, '--json']);
    expect(await exited).to.include(0);
    expect(JSON.parse(out())).to.have.property('deliveryId').that.is.a('string');
    await driver.deliver(body.id);
    driver.stop();
    const [one, two] = await receiver.received(2);
    expect(two?.headers['webhook-id']).to.equal(one?.headers['webhook-id']);
    const unknown = everpost(['replay', deliveryId.replace(/^.{8}/, '00000000')]);
    expect(await unknown.exited).to.include(1);
    expect(unknown.out()).to.match(/Webhook delivery not found/);
  });

  it('names the address of an API that does not answer', async () => {
    const nowhere = ['--api', 'http://127.0.0.1:9'];
    const replay = everpost(['replay', 'some-id', ...nowhere]);
    expect(await replay.exited).to.include(1);
    expect(replay.out()).to.contain('The API at http://127.0.0.1:9 cannot be reached (');
    const listen = everpost(['listen', '--forward', receiver.url, ...nowhere]);
    await eventually(() => listen.out().includes('cannot be reached ('));
    expect(listen.out()).to.contain('http://127.0.0.1:9').and.contain('; connecting again');
    listen.child.kill();
  });
});
