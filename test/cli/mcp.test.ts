import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';
import { routeTools } from '../../cli/mcp/tools.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { type ApiProject, describeApi } from '../support/api.ts';

interface Answered {
  isError: boolean;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the assertions of a test determine the shape
  json: any;
}

describeApi('npx everpost mcp', (api) => {
  let project: ApiProject;
  const clients: Client[] = [];

  before(async () => {
    project = await api.project();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });

  async function connect(args: string[] = [], key = project.secretKey) {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [join(await compiledProgram(), 'cli/main.js'), 'mcp', ...args],
        cwd: root,
        env: { PATH: process.env.PATH ?? '', EVERPOST_URL: api.url, EVERPOST_SECRET_KEY: key },
      }),
    );
    clients.push(client);
    const call = async (name: string, given: Record<string, unknown> = {}): Promise<Answered> => {
      const { isError = false, content } = await client.callTool({ name, arguments: given });
      const [{ text }] = content as [{ text: string }];
      return { isError: Boolean(isError), text, json: /^[{[]/.test(text) ? JSON.parse(text) : undefined };
    };
    return { client, call };
  }

  const conditionOf = (filter: object) => ({ logic: 'AND', groups: [{ filters: [filter] }] });
  const campaignOf = async (owner: ApiProject, audience: object = { audienceType: 'ALL' }): Promise<string> => {
    const { body } = await owner.server.post('/campaigns', {
      name: 'News',
      subject: 'News',
      body: '<p>News</p>',
      ...audience,
      from: `news@${owner.senderDomain}`,
    });
    return body.data.id;
  };

  it('offers reading tools for every area, and none that write', async () => {
    const { client, call } = await connect();
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).to.have.members([
      ...routeTools.filter(({ write }) => !write).map(({ name }) => name),
      'preview_campaign',
    ]);
    for (const area of [
      'contact',
      'event',
      'form',
      'email',
      'template',
      'segment',
      'campaign',
      'workflow',
      'domain',
      'simulate',
      'timeseries',
    ])
      expect(
        names.some((name) => name.includes(area)),
        area,
      ).to.equal(true);
    for (const { annotations, name } of tools) expect(annotations?.readOnlyHint, name).to.equal(true);
    const refused = await call('save_contact', { email: 'ann@example.com' });
    expect(refused.isError).to.equal(true);
    expect(refused.text).to.include('--write');
    const sent = await call('send_campaign', { id: 'x', confirmationToken: 'x' });
    expect(sent.text).to.include('--write');
    expect((await project.server.get('/contacts')).body.data).to.deep.equal([]);
  });

  it('takes the arguments of tools from the document of the API', async () => {
    const { client } = await connect(['--write']);
    const { tools } = await client.listTools();
    expect(tools).to.have.lengthOf(routeTools.length + 2);
    const { inputSchema } = tools.find(({ name }) => name === 'update_contact') ?? {};
    expect(inputSchema?.properties, 'no tool gives consent').to.have.all.keys('id', 'email', 'subscribed', 'data');
    expect(inputSchema?.required).to.deep.equal(['id']);
    for (const { name, path, method } of routeTools)
      if (method !== 'get' && !/pause|cancel/.test(name) && path !== '/workflows/{id}/executions/{executionId}')
        expect(
          Object.keys(tools.find((tool) => tool.name === name)?.inputSchema.properties ?? {}).length,
          name,
        ).to.be.greaterThan(0);
    const giving = routeTools.filter(({ path }) => /\/(?:subscribe|resend)$|\/contacts\/\{id\}\/topics$/.test(path));
    expect(giving.map((tool) => tool.name)).to.deep.equal(['get_contact_topics']);
    const list = tools.find(({ name }) => name === 'list_domains');
    expect(list?.inputSchema.properties).to.deep.equal({});
  });

  it('reads, writes and explains refusals with --write', async () => {
    const { call } = await connect(['--write']);
    const saved = await call('save_contact', { email: 'ann@example.com', data: { plan: 'pro' } });
    expect(saved.json).to.include({ email: 'ann@example.com' });
    expect((await call('get_contact', { id: saved.json.id })).json.data).to.deep.equal({ plan: 'pro' });
    expect((await call('track_event', { email: 'ann@example.com', event: 'bought' })).isError).to.equal(false);
    expect((await call('list_events')).text).to.include('"bought"');
    const mail = { from: `shop@${project.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' };
    expect((await call('send_email', { ...mail, to: 'ann@example.com' })).json.data.emails).to.have.lengthOf(1);
    expect((await call('list_emails')).json.data).to.have.lengthOf(1);
    expect((await call('list_domains')).json[0]).to.include({ domain: project.senderDomain });

    const invalid = await call('send_email', { ...mail, to: 'nobody' });
    expect(invalid.isError).to.equal(true);
    expect(invalid.json).to.include({ status: 422, code: 'VALIDATION_ERROR' });
    expect(invalid.json.errors[0]).to.include({ field: 'to' });
    const several = await call('send_email', { ...mail, to: ['a@example.com', 'b@example.com'] });
    expect(several.text).to.match(/single/);
    expect((await call('get_contact', { name: 'Ann' })).text).to.match(/Unknown argument "name"/);
    expect((await call('get_contact')).text).to.match(/Missing: id/);
    expect((await call('no_such_tool')).text).to.match(/Unknown tool/);
  });

  it('simulates a workflow and reads analytics', async () => {
    const { body } = await project.server.post('/workflows', {
      name: 'Welcome',
      triggerConfig: { eventName: 'signed_up' },
    });
    const { call } = await connect();
    await project.server.post(`/workflows/${body.id}/steps`, { type: 'EXIT', name: 'End', config: {} });
    const simulated = await call('simulate_workflow', { id: body.id, contact: { email: 'ann@example.com' } });
    expect(simulated.isError, simulated.text).to.equal(false);
    expect((await call('get_timeseries')).isError).to.equal(false);
  });

  it('sends a campaign once, with the token of a preview', async () => {
    const own = await api.project();
    for (const name of ['ann', 'bob']) await own.server.post('/contacts', { email: `${name}@example.com` });
    const id = await campaignOf(own);
    const { call } = await connect(['--write'], own.secretKey);
    expect((await call('send_campaign', { id, confirmationToken: 'guessed' })).isError).to.equal(true);
    const { json: preview } = await call('preview_campaign', { id });
    expect(preview).to.include({ campaignId: id, subject: 'News' });
    expect(preview.audience).to.include({ type: 'ALL', count: 2 });
    expect(preview.audience.sample).to.have.members(['ann@example.com', 'bob@example.com']);
    const sent = await call('send_campaign', { id, confirmationToken: preview.confirmationToken });
    expect(sent.isError, sent.text).to.equal(false);
    expect((await own.server.get(`/campaigns/${id}`)).body.status).to.equal('SENDING');
    expect((await call('send_campaign', { id, confirmationToken: preview.confirmationToken })).isError).to.equal(true);
  });

  it('refuses the token when campaign or audience have changed, and that of another campaign', async () => {
    const own = await api.project();
    await own.server.post('/contacts', { email: 'ann@example.com' });
    const id = await campaignOf(own);
    const other = await campaignOf(own);
    const { call } = await connect(['--write'], own.secretKey);
    const token = async () => (await call('preview_campaign', { id })).json.confirmationToken as string;

    expect((await call('send_campaign', { id: other, confirmationToken: await token() })).isError).to.equal(true);
    const beforeChange = await token();
    const { body } = await own.server.get(`/campaigns/${id}`);
    await own.server.put(`/campaigns/${id}`, { ...body, subject: 'Other news' });
    expect((await call('send_campaign', { id, confirmationToken: beforeChange })).text).to.match(
      /campaign or its segment has changed/,
    );
    const beforeGrowth = await token();
    await own.server.post('/contacts', { email: 'bob@example.com' });
    expect((await call('send_campaign', { id, confirmationToken: beforeGrowth })).text).to.match(/from 1 to 2/);
    expect((await own.server.get(`/campaigns/${id}`)).body.status).to.equal('DRAFT');
  });

  it('refuses the token when a segment of the audience has changed', async () => {
    const own = await api.project();
    await own.server.post('/contacts', { email: 'ann@example.com', data: { plan: 'pro' } });
    const isPro = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const segmentOf = async (name: string, filter: object) =>
      (await own.server.post('/segments', { name, condition: conditionOf(filter) })).body.id as string;
    const inner = await segmentOf('Inner', isPro);
    const outer = await segmentOf('Outer', { field: `segment.${inner}`, operator: 'memberOfSegment' });
    const id = await campaignOf(own, { audienceType: 'SEGMENT', segmentId: outer });
    const { call } = await connect(['--write'], own.secretKey);
    const { confirmationToken } = (await call('preview_campaign', { id })).json;
    const isNotFree = { ...isPro, operator: 'notEquals', value: 'free' };
    await own.server.patch(`/segments/${inner}`, { condition: conditionOf(isNotFree) });
    expect((await call('send_campaign', { id, confirmationToken })).text).to.match(/its segment has changed/);

    const { json: preview } = await call('preview_campaign', { id });
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    const sent = await call('send_campaign', { id, confirmationToken: preview.confirmationToken, scheduledFor });
    expect(sent.isError, sent.text).to.equal(false);
    const condition = conditionOf(isPro);
    expect((await call('update_segment', { id: inner, condition })).text).to.match(/sent as it was confirmed/);
    expect((await call('update_segment', { id: inner, name: 'Paying' })).isError).to.equal(false);
  });

  it('changes one field of a draft, and only its name once it is scheduled', async () => {
    const own = await api.project();
    await own.server.post('/contacts', { email: 'ann@example.com' });
    const id = await campaignOf(own);
    const { call } = await connect(['--write'], own.secretKey);
    const changed = await call('update_campaign', { id, subject: 'Better news' });
    expect(changed.json, changed.text).to.include({ subject: 'Better news', name: 'News', body: '<p>News</p>' });
    const { confirmationToken } = (await call('preview_campaign', { id })).json;
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    await call('send_campaign', { id, confirmationToken, scheduledFor });
    for (const change of [{ subject: 'Bad news' }, { body: 'b' }, { audienceType: 'FILTERED' }])
      expect((await call('update_campaign', { id, ...change })).text).to.match(/sent as it was confirmed/);
    expect((await call('update_campaign', { id, name: 'May' })).json).to.include({ name: 'May', status: 'SCHEDULED' });
    expect((await own.server.get(`/campaigns/${id}`)).body.subject).to.equal('Better news');
  });

  it('can do no more than the scopes of its key', async () => {
    const { body } = await project.owner.post(`/projects/${project.id}/keys`, {
      name: 'assistant',
      scopes: ['campaigns:read'],
    });
    const { call } = await connect(['--write'], body.key);
    const refused = await call('list_contacts');
    expect(refused.json).to.include({ status: 403, code: 'FORBIDDEN' });
    expect(refused.json.message).to.include('contacts:read');
    const { json: preview } = await call('preview_campaign', { id: await campaignOf(project) });
    expect(preview.audience.sample).to.deep.equal([]);
    expect(preview.audience.sampleError).to.include('contacts:read');
  });
});
