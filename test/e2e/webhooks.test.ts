import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { type HttpReceiver, type ReceivedRequest, startHttpReceiver } from '../support/http-receiver.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('outbound webhooks', () => {
  let temporal: OwnNamespace;
  let receiver: HttpReceiver;
  let stack: Stack;

  beforeEach(async () => {
    temporal = await ownNamespace();
    receiver = await startHttpReceiver();
    stack = await startStack(temporal, { WEBHOOK_ALLOWED_HOSTS: receiver.host });
  });
  afterEach(async () => {
    await stack?.end();
    await receiver?.stop();
    await temporal?.close();
  });

  const addEndpoint = async (path: string, types: string[]) => {
    const { body } = await stack.server.post('/webhook-endpoints', { url: receiver.url + path, types });
    return body as { id: string; secret: string };
  };
  const track = async (event: string) => {
    const { api, project } = stack;
    const answer = await fetch(`${api.url}/v1/track`, {
      method: 'POST',
      headers: { authorization: `Bearer ${project.publicKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ann@example.com', event }),
    });
    expect(answer.status).to.equal(200);
  };
  const typeOf = (request: ReceivedRequest) => (request.json() as { type: string }).type;
  const at = (path: string) => receiver.requests.filter((request) => request.path === path);
  const statuses = async (id: string) => {
    const { body } = await stack.server.get(`/webhook-endpoints/${id}/deliveries?limit=100`);
    return (body as { data: { status: string }[] }).data.map(({ status }) => status);
  };

  it('delivers what happens to a mail, signed', async () => {
    await stack.startWorker();
    const { secret } = await addEndpoint('/hook', ['email.*', 'contact.created']);
    const emailId = await stack.send('ann@example.com');
    await receiver.received(2);
    expect(receiver.requests.map(typeOf)).to.have.members(['contact.created', 'email.sent']);
    const sent = receiver.requests.find((request) => typeOf(request) === 'email.sent');
    const payload = new Webhook(secret).verify(sent?.body ?? '', sent?.headers as never) as { data: object };
    expect(payload.data).to.include({
      emailId,
      email: 'ann@example.com',
      projectId: stack.project.id,
      subject: 'Hello',
    });
    expect(payload.data).to.include.keys('eventId', 'contactId', 'position');
  });

  it('misses nothing and keeps the ids when the worker is killed in the middle of calls', async () => {
    let isHanging = true;
    receiver.answer(() => (isHanging ? { instead: 'hang' } : {}));
    const { id } = await addEndpoint('/hook', ['event.*']);
    const worker = await stack.startWorker();
    const names = Array.from({ length: 15 }, (_, n) => `event${n}`);
    for (const name of names) await track(name);
    const begun = (await receiver.received(5)).map(({ headers }) => headers['webhook-id']);
    expect(await worker.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    isHanging = false;
    await stack.startWorker();
    await eventually(async () => (await statuses(id)).every((status) => status === 'DELIVERED'));
    const byType = new Map(receiver.requests.map((request) => [typeOf(request), new Set<unknown>()]));
    for (const request of receiver.requests) byType.get(typeOf(request))?.add(request.headers['webhook-id']);
    expect([...byType.keys()]).to.have.members(names.map((name) => `event.${name}`));
    for (const ids of byType.values()) expect(ids.size).to.equal(1);
    // The calls that were broken off are made again, under the same ids.
    const repeated = receiver.requests.slice(begun.length).map(({ headers }) => headers['webhook-id']);
    expect(repeated).to.include.members(begun);
  });

  it('delays no other endpoint when one hangs', async () => {
    receiver.answer({ instead: 'hang' }, '/slow');
    const slow = await addEndpoint('/slow', ['event.*']);
    const fast = await addEndpoint('/fast', ['event.*']);
    await stack.startWorker();
    await track('first');
    await eventually(() => at('/slow').length > 0, { what: 'a call that hangs' });
    for (const name of ['second', 'third']) await track(name);
    await eventually(() => at('/fast').length === 3, { what: 'three calls of the fast endpoint' });
    await eventually(async () => (await statuses(fast.id)).every((status) => status === 'DELIVERED'));
    expect(await statuses(slow.id)).to.not.include('DELIVERED');
  });
});
