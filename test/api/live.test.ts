import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { endSessions } from '../../services/sessions/sessions.ts';
import { person } from '../support/accounts.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { setProject } from '../support/rows/projects.ts';
import { countRows } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

// So that a test measures what is in use, and not what the collector has left on a busy machine.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Message {
  topic: string;
  data: Record<string, unknown> | null;
}

interface OpenStream {
  status: number;
  headers: Headers;
  messages: Message[];
  heartbeats(): number;
  hasEnded(): boolean;
  close(): void;
}

describe('GET /live', () => {
  let api: TestApi;
  let project: ApiProject;
  let stranger: ApiProject;
  const streams: OpenStream[] = [];

  before(async () => {
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '0' } });
  });
  after(() => api.stop());
  beforeEach(async () => {
    project = await api.project();
    stranger = await api.project();
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await eventually(async () => (await countRows(api.db, 'live_streams')) === 0, {
      what: 'all streams to be removed',
    });
  });

  async function open(
    topics: string,
    headers: Record<string, string> = bearer(project),
    more = '',
    at = api,
  ): Promise<OpenStream> {
    const abort = new AbortController();
    const answer = await fetch(`${at.url}/live?topics=${topics}${more}`, { headers, signal: abort.signal });
    let text = '';
    let ended = false;
    const stream: OpenStream = {
      status: answer.status,
      headers: answer.headers,
      messages: [],
      heartbeats: () => text.split(': heartbeat\n\n').length - 1,
      hasEnded: () => ended,
      close: () => abort.abort(),
    };
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const bytes of answer.body ?? []) {
        text += decoder.decode(bytes as Uint8Array, { stream: true });
        stream.messages = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, json = '']) => JSON.parse(json));
      }
    };
    void read()
      .catch(() => {})
      .finally(() => {
        ended = true;
      });
    streams.push(stream);
    return stream;
  }
  const bearer = ({ secretKey }: ApiProject) => ({ authorization: `Bearer ${secretKey}` });
  const draft = async (body = 'b') => {
    const campaign = { name: 'c', subject: 's', body, from: `a@${project.senderDomain}`, audienceType: 'ALL' };
    return (await project.server.post('/campaigns', campaign)).body.data.id as string;
  };
  const has = (stream: OpenStream, found: (message: Message) => boolean) =>
    eventually(() => stream.messages.some(found), { what: 'the message' });

  it('sends the present state at once and every change after it, as the GET shows it', async () => {
    const id = await draft();
    const stream = await open(`campaign:${id}`);
    expect(stream.status).to.equal(200);
    expect(stream.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    await has(stream, ({ data }) => data?.name === 'c');
    // What only GET counts, because it takes long.
    const { followUps, combined, ...shown } = (await project.server.get(`/campaigns/${id}`)).body;
    expect({ followUps, combined }).to.deep.equal({ followUps: [], combined: null });
    expect(stream.messages[0]).to.deep.equal({ topic: `campaign:${id}`, data: shown });
    await project.server.patch(`/campaigns/${id}`, { ratePerMinute: 7 });
    await has(stream, ({ data }) => data?.ratePerMinute === 7);
    expect(stream.messages).to.have.lengthOf(2);
  });

  it('follows jobs, domains, workflows and activity with one stream', async () => {
    const { body: workflow } = await project.server.post('/workflows', { name: 'w', eventName: 'x' });
    const { body: domain } = await project.server.post('/domains', {
      domain: `live-${newId().slice(-12)}.example.com`,
    });
    const { jobId } = (await project.server.post('/contacts/bulk-delete', { contactIds: [newId()] })).body;
    const topics = [`job:${jobId}`, `domain:${domain.id}`, `workflow:${workflow.id}`, 'activity'];
    const stream = await open(topics.join());
    await eventually(() => stream.messages.length >= 4);
    expect(stream.messages.map(({ topic }) => topic)).to.deep.equal(topics);
    const of = (topic: string) => stream.messages.find((message) => message.topic === topic)?.data;
    expect(of(`job:${jobId}`)).to.deep.equal((await project.server.get(`/jobs/${jobId}`)).body);
    expect(of(`workflow:${workflow.id}`)).to.deep.equal((await project.server.get(`/workflows/${workflow.id}`)).body);
    expect(of(`domain:${domain.id}`)).to.include({ id: domain.id, status: 'PENDING' });
    await project.browser.post('/v1/track', { email: 'a@x.co', event: 'bought' });
    await has(stream, ({ topic, data }) => topic === 'activity' && JSON.stringify(data).includes('bought'));
    await project.server.post(`/contacts/jobs/${jobId}/cancel`);
    await has(stream, ({ data }) => data?.status === 'CANCELLED');
  });

  it('follows a form, which needs its scope', async () => {
    const { body: form } = await project.server.post('/forms', { name: 'Newsletter', status: 'PAUSED' });
    const stream = await open(`form:${form.id}`);
    await has(stream, ({ data }) => data?.status === 'PAUSED');
    expect(stream.messages[0]).to.deep.equal({ topic: `form:${form.id}`, data: form });
    await project.server.patch(`/forms/${form.id}`, { name: 'News' });
    await has(stream, ({ data }) => data?.name === 'News');
    expect((await open(`form:${form.id}`, bearer(stranger))).status).to.equal(404);
    const ofTopics = { name: 'k', scopes: ['topics:read'] };
    const { body: key } = await project.owner.post(`/projects/${project.id}/keys`, ofTopics);
    expect((await open(`form:${form.id}`, { authorization: `Bearer ${key.key}` })).status).to.equal(403);
  });

  it('needs the scope of what a job works on', async () => {
    const { body: workflow } = await project.server.post('/workflows', { name: 'w', eventName: 'x' });
    const retried = (await project.server.post(`/workflows/${workflow.id}/executions/retry-failed`, {})).body.jobId;
    const deleted = (await project.server.post('/contacts/bulk-delete', { contactIds: [newId()] })).body.jobId;
    const keyWith = async (scope: string) => {
      const { body } = await project.owner.post(`/projects/${project.id}/keys`, { name: 'k', scopes: [scope] });
      return { authorization: `Bearer ${body.key}` };
    };
    const ofWorkflows = await keyWith('workflows:read');
    const stream = await open(`workflow:${workflow.id},job:${retried}`, ofWorkflows);
    expect(stream.status).to.equal(200);
    await has(stream, ({ data }) => data?.type === 'RETRY_EXECUTIONS');
    expect((await open(`job:${retried},job:${deleted}`, ofWorkflows)).status).to.equal(403);
    expect((await open(`job:${deleted}`, await keyWith('contacts:read'))).status).to.equal(200);
    expect((await open(`job:${deleted}`, await keyWith('send:read'))).status).to.equal(403);
    expect((await open(`job:${newId()}`, ofWorkflows)).status).to.equal(404);
  });

  it('says that a resource is gone', async () => {
    const id = await draft();
    const stream = await open(`campaign:${id}`);
    await project.server.delete(`/campaigns/${id}`);
    await has(stream, ({ data }) => data === null);
  });

  it('takes a session that names its project in the address', async () => {
    const stream = await open('activity', { cookie: project.cookie }, `&projectId=${project.id}`);
    expect(stream.status).to.equal(200);
    expect((await open('activity', { cookie: project.cookie }, `&projectId=${stranger.id}`)).status).to.equal(403);
    expect((await open('activity', {})).status).to.equal(401);
  });

  it('answers 404 to a resource of another project and 400 to topics that cannot be read', async () => {
    const id = await draft();
    expect((await open(`campaign:${id}`, bearer(stranger))).status).to.equal(404);
    for (const topics of ['', 'other', 'campaign', 'campaign:x', `activity:${id}`, `__proto__:${id}`, 'activity,'])
      expect((await open(topics)).status, topics).to.equal(400);
    const many = Array.from({ length: 21 }, () => `job:${newId()}`).join();
    expect((await open(many)).status).to.equal(400);
  });

  it('sends heartbeats, and ends when the rights end', async () => {
    const member = await person(api, { project: project.id, role: 'MEMBER' });
    const more = `&projectId=${project.id}`;
    const bySession = await open('activity', { cookie: project.cookie }, more);
    const byMember = await open('activity', { cookie: member.cookie }, more);
    const byKey = await open('activity');
    await eventually(() => [bySession, byMember, byKey].every((stream) => stream.heartbeats() > 1));
    await endSessions(api.db, project.userId);
    await eventually(() => bySession.hasEnded(), { what: 'the stream of the ended session to end' });
    expect(await member.delete(`/projects/${project.id}/members/${member.id}`)).to.have.status(204);
    await eventually(() => byMember.hasEnded(), { what: 'the stream of the removed member to end' });
    expect(byKey.hasEnded()).to.equal(false);
    await setProject(api.db, project.id, { secretKeyHash: Buffer.from(newId()) });
    await eventually(() => byKey.hasEnded(), { what: 'the stream of the revoked key to end' });
  });

  it('answers 429 to the 21st stream of a project, and lets another in when one ends', async () => {
    for (let n = 0; n < 20; n++) expect((await open('activity')).status).to.equal(200);
    expect((await open('activity')).status).to.equal(429);
    expect((await open('activity', bearer(stranger))).status).to.equal(200);
    streams[0]?.close();
    await eventually(async () => (await open('activity')).status === 200, { what: 'a free stream' });
  });

  it('does not count streams of a process that has died', async () => {
    await api.db.raw(
      `insert into live_streams (id, project_id, renewed_at)
       select uuidv7(), ?, now() - interval '46 seconds' from generate_series(1, 20)`,
      [project.id],
    );
    expect((await open('activity')).status).to.equal(200);
  });

  describe('with clients that do not read', () => {
    const sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
    });

    /** Opens a stream and reads nothing of it, not even the head. */
    async function openUnread(topics: string, at = api): Promise<Socket> {
      const { hostname, port } = new URL(at.url);
      const socket = connect(Number(port), hostname).on('error', () => {});
      socket.pause();
      sockets.push(socket);
      await once(socket, 'connect');
      const { authorization } = bearer(project);
      socket.write(`GET /live?topics=${topics} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
      return socket;
    }
    /** Large enough that the system's buffers do not take two of them. */
    const drafts = async (count: number) => {
      const ids: string[] = [];
      for (let n = 0; n < count; n++) ids.push(`campaign:${await draft(`${n}`.padEnd(5_000_000, 'x'))}`);
      return ids.join();
    };
    const openStreams = () => countRows(api.db, 'live_streams');

    it('holds at most one state of all topics in memory, once for all streams, and closes them', async () => {
      const topics = await drafts(6);
      collectGarbage();
      const before = process.memoryUsage().arrayBuffers;
      // On a busy machine the first are closed before the last are open.
      const opened = new Set<string>();
      for (let n = 0; n < 16; n++) {
        await openUnread(topics);
        await eventually(
          async () => {
            for (const { id } of await api.db('live_streams').select('id')) opened.add(id);
            return opened.size > n;
          },
          { what: `stream ${n + 1}` },
        );
      }
      let most = 0;
      await eventually(
        async () => {
          collectGarbage();
          most = Math.max(most, process.memoryUsage().arrayBuffers - before);
          return (await openStreams()) === 0;
        },
        { what: 'the streams to be closed' },
      );
      // Sixteen copies of six states would be 480 MB.
      expect(most).to.be.below(200_000_000);
    });

    it('sends every topic to a client that begins to read late, and other streams at once', async () => {
      // With the patience of production: tests disconnect a client after five seconds.
      const patient = await startTestApi({
        env: { RATE_LIMIT_PER_MINUTE: '0', EVERPOST_TIMINGS: undefined },
        database: { db: api.db, url: api.databaseUrl, close: async () => {} },
      });
      try {
        const topics = await drafts(3);
        const late = await openUnread(topics, patient);
        await eventually(async () => (await openStreams()) === 1, { what: 'the stream' });
        const other = await open('activity', bearer(project), '', patient);
        await has(other, ({ topic }) => topic === 'activity');
        let received = '';
        late.on('data', (bytes) => {
          received += bytes.toString('latin1');
        });
        late.resume();
        for (const topic of topics.split(','))
          await eventually(() => received.includes(`"topic":"${topic}"`), { what: topic });
      } finally {
        await patient.stop();
      }
    });
  });

  it('ends with the process', async () => {
    const other = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
    const answer = await fetch(`${other.url}/live?topics=activity`, { headers: bearer(project) });
    expect(answer.status).to.equal(200);
    await other.stop();
    expect(await answer.text()).to.include('"activity"');
  });
});
