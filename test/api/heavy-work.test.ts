import { expect } from 'chai';
import { answer, ok } from '../../api/http/answers.ts';
import { route, routes } from '../../api/http/route.ts';
import { object } from '../../api/http/schemas.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { eventually } from '../support/waiting.ts';

describe('a route that is declared heavy', () => {
  let api: TestApi;
  let under: string[] = [];
  let waiting: { projectId: string; end: () => void }[] = [];
  let blockedProject = '';

  before(async () => {
    const heavy = route({
      method: 'GET',
      path: '/test/heavy',
      heavy: 'read',
      heavyWaitMs: 120_000,
      summary: 'Takes as long as the test likes',
      access: 'secretKey',
      scope: 'send:read',
      answers: { 200: answer('Done.', object({})) },
      handle: async ({ project: { projectId } }) => {
        under.push(projectId);
        if (projectId === blockedProject) await new Promise<void>((end) => waiting.push({ projectId, end }));
        return ok({});
      },
    });
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '0' }, moreRoutes: [routes('Test', [heavy])] });
  });
  after(() => api.stop());
  beforeEach(() => {
    under = [];
    waiting = [];
  });

  it('runs three calls of a project at once and meanwhile answers other projects', async () => {
    const noisy = await api.project();
    const other = await api.project();
    blockedProject = noisy.id;
    const calls = Array.from({ length: 20 }, () => noisy.server.get('/test/heavy'));
    await eventually(() => waiting.length === 3, { what: 'three calls in progress' });
    for (let n = 0; n < 5; n++) expect(await other.server.get('/test/heavy')).to.have.status(200);
    expect(await noisy.server.get('/segments'), 'a route that is not heavy').to.have.status(200);
    expect(under.filter((id) => id === noisy.id)).to.have.length(3);
    blockedProject = '';
    for (const { end } of waiting) end();
    for (const answered of await Promise.all(calls)) expect(answered).to.have.status(200);
  });
});
