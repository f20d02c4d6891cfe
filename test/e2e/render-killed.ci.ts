import { expect } from 'chai';
import { JOB_TIMEOUT, killMidway } from '../support/killed-job.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const TEMPLATES = 150;
const CAMPAIGNS = 30;
const COLOR = '#123456';

const document = { version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hello' }] }] };

describe('killing the worker while a brand is applied', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  it('renders every document once, and the counts add up', async () => {
    const { server, project } = stack;
    const { db } = stack.database;
    const templates: string[] = [];
    const campaigns: string[] = [];
    for (let n = 0; n < TEMPLATES; n++) {
      const template = { name: `t${n}`, subject: 's', type: 'MARKETING', document };
      templates.push((await server.post('/templates', template)).body.id);
    }
    for (let n = 0; n < CAMPAIGNS; n++) {
      const from = `news@${project.senderDomain}`;
      const campaign = { name: `c${n}`, subject: 's', from, audienceType: 'ALL', document };
      campaigns.push((await server.post('/campaigns', campaign)).body.data.id);
    }
    // One that can no longer be rendered, because the kind of the block that it names has changed.
    const block = { name: 'b', kind: 'SECTION', document };
    const { id: blockId } = (await server.post('/saved-blocks', block)).body;
    const section = { type: 'section', content: [{ type: 'saved', attrs: { blockId } }] };
    const broken = { name: 'broken', subject: 's', type: 'MARKETING', document: { version: 1, content: [section] } };
    const { id: brokenId } = (await server.post('/templates', broken)).body;
    const footer = { version: 1, content: [{ type: 'footer', content: document.content }] };
    expect(await server.patch(`/saved-blocks/${blockId}`, { kind: 'FOOTER', document: footer })).to.have.status(200);
    const total = TEMPLATES + CAMPAIGNS + 1;

    await server.put('/brand-kit', { colors: { text: COLOR } });
    const { jobId } = (await server.post('/brand-kit/apply')).body;
    const first = await stack.startWorker();
    const midway = await killMidway(db, jobId, first, ({ processed }) => processed > 0);
    expect(midway.status).to.equal('RUNNING');
    expect(midway.processed).to.be.greaterThan(0).and.lessThan(total);

    const second = await stack.startWorker();
    const job = await eventually(
      async () => {
        const { body } = await server.get(`/jobs/${jobId}`);
        return body.status === 'COMPLETED' && body;
      },
      { ...JOB_TIMEOUT, what: 'the end of the job' },
    );
    expect(job).to.include({ total, processed: total, progress: 100 });
    expect(job.result).to.include({ rendered: TEMPLATES + CAMPAIGNS, unchanged: 0, failed: 1 });
    expect(job.result.errors).to.have.length(1);
    expect(job.result.errors[0]).to.include({ type: 'TEMPLATE', id: brokenId, name: 'broken' });
    for (const id of templates) {
      expect((await server.get(`/templates/${id}`)).body.body).to.include(COLOR);
      const { data } = (await server.get(`/templates/${id}/versions`)).body;
      expect(data.map(({ savedBy }: { savedBy: string | null }) => savedBy)).to.deep.equal(['SYSTEM', null]);
    }
    for (const id of campaigns) {
      const { body } = await server.get(`/campaigns/${id}`);
      expect(body).to.include({ revision: 1 });
      expect(body.body).to.include(COLOR);
    }
    await second.kill();
  });
});
