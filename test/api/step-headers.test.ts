import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { person } from '../support/accounts.ts';
import { type ApiProject, type Client, client, startTestApi, type TestApi } from '../support/api.ts';
import { type Built, build, enable } from '../support/workflow-building.ts';

const TOKEN = 'a-token-of-another-service';
const HIDDEN = { 'X-Token': '•••' };
const config = (headers: object) => ({ url: 'https://hooks.example/', headers });

interface ShownStep {
  id: string;
  type: string;
  config: { headers: object };
}

describe('headers of WEBHOOK steps', () => {
  let api: TestApi;
  let project: ApiProject;
  let built: Built;
  let readers: Record<string, Client>;
  let writers: Record<string, Client>;

  before(async () => {
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '0' } });
    project = await api.project();
    const as = async (role: 'VIEWER' | 'MEMBER') => {
      const { cookie } = await person(api, { project: project.id, role });
      return client(api.url, { cookie, 'x-project-id': project.id });
    };
    const withScopes = async (...scopes: string[]) => {
      const { body } = await project.owner.post(`/projects/${project.id}/keys`, { name: scopes.join(), scopes });
      return client(api.url, { authorization: `Bearer ${body.key}` });
    };
    readers = {
      'a VIEWER': await as('VIEWER'),
      'a key that may read': await withScopes('workflows:read', 'contacts:read'),
    };
    writers = {
      'a MEMBER': await as('MEMBER'),
      'a key that may write': await withScopes('workflows:write', 'contacts:read'),
    };
  });
  after(() => api.stop());
  beforeEach(async () => {
    built = await build(project, {
      steps: { hook: { type: 'WEBHOOK', config: config({ 'X-Token': TOKEN }) }, out: { type: 'EXIT' } },
      transitions: [['hook', 'out']],
    });
    await enable(project, built.id);
  });

  const path = (rest = '') => `/workflows/${built.id}${rest}`;
  const headersIn = (steps: ShownStep[]) => steps.find(({ type }) => type === 'WEBHOOK')?.config.headers;
  /** What a caller gets everywhere that the headers are shown. */
  const shownTo = async (client: Client) => {
    const whole = await client.get(path());
    const { body: draft } = await client.get(path('/draft'));
    const version = await client.get(path(`/versions/${whole.body.version}`));
    const simulation = await client.post(path('/simulate'), { contact: { email: 'new@example.com', data: {} } });
    const preview = await client.post(path('/publish/preview'));
    const cases = await client.post(path('/cases/run'), {});
    const answers = [whole.body, draft, version.body, simulation.body, preview.body, cases.body];
    return {
      text: JSON.stringify(answers),
      headers: [headersIn(whole.body.steps), headersIn(draft.graph.steps), headersIn(version.body.graph.steps)],
      request: simulation.body.webhooks[0].headers,
    };
  };
  const hookOf = async () => {
    const { body } = await project.server.get(path());
    return headersIn(body.steps);
  };

  it('are shown with names only to callers who may not change workflows', async () => {
    for (const [who, client] of Object.entries(readers)) {
      const { text, headers, request } = await shownTo(client);
      expect(headers, who).to.deep.equal([HIDDEN, HIDDEN, HIDDEN]);
      expect(request, who).to.deep.include({ 'x-token': '•••' });
      expect(text, who).to.not.include(TOKEN);
    }
  });

  it('are shown with their values to callers who may', async () => {
    for (const [who, client] of Object.entries(writers)) {
      const { headers, request } = await shownTo(client);
      expect(headers, who).to.deep.equal([{ 'X-Token': TOKEN }, { 'X-Token': TOKEN }, { 'X-Token': TOKEN }]);
      expect(request, who).to.deep.include({ 'x-token': TOKEN });
    }
  });

  it('keep their stored values when the mask is sent back', async () => {
    const headers = { ...HIDDEN, 'X-New': '1' };
    const patched = await project.server.patch(path(`/steps/${built.steps.hook}`), { config: config(headers) });
    expect(patched).to.have.status(200);
    expect(await hookOf()).to.deep.equal({ 'X-Token': TOKEN, 'X-New': '1' });
    const read = await readers['a VIEWER']?.get(path('/draft'));
    const { graph, revision } = read?.body ?? {};
    const saved = await project.server.put(path('/draft'), { graph, expectedRevision: revision });
    expect(saved).to.have.status(200);
    expect(saved.body.changed).to.equal(false);
    expect(headersIn(saved.body.graph.steps)).to.deep.equal({ 'X-Token': TOKEN, 'X-New': '1' });
  });

  it('reject a mask without a stored value with 422', async () => {
    const unknown = { 'X-Other': '•••' };
    const step = { type: 'WEBHOOK', config: config(unknown) };
    expect(await project.server.post(path('/steps'), step)).to.have.validationError('config.headers.X-Other', 'custom');
    const patched = await project.server.patch(path(`/steps/${built.steps.hook}`), { config: config(unknown) });
    expect(patched).to.have.validationError('config.headers.X-Other', 'custom');
    const { revision } = (await project.server.get(path('/draft'))).body;
    const graph = { steps: [{ id: newId(), ...step }], transitions: [] };
    const saved = await project.server.put(path('/draft'), { graph, expectedRevision: revision });
    expect(saved).to.have.validationError('graph.steps.0.config.headers.X-Other', 'custom');
    expect(await hookOf()).to.deep.equal({ 'X-Token': TOKEN });
  });
});
