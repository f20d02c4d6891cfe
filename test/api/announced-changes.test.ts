import { expect } from 'chai';
import { Listener } from '../../db/listener.ts';
import { createLogger } from '../../platform/logger.ts';
import { TEST_TIMINGS } from '../../platform/timings.ts';
import { describeApi } from '../support/api.ts';
import { eventually } from '../support/waiting.ts';

describeApi('changes through the API', (api) => {
  let listener: Listener;
  const announced: string[] = [];

  before(async () => {
    listener = new Listener({ databaseUrl: api.databaseUrl, log: createLogger('test', 'silent') });
    listener.on('everpost_wake', (payload) => announced.push(...payload.split(',').filter((one) => one === 'changes')));
    await listener.start();
  });
  after(() => listener.stop());

  it('end the idle mode of workers, few of them in a while', async () => {
    const { server } = await api.project();
    const started = performance.now();
    for (let n = 0; n < 10; n++)
      expect((await server.post('/contacts', { email: `a${n}@example.com` })).status).to.equal(201);
    // Another file may have changed something on the same API just before.
    let more = 0;
    const isAnnounced = async () => {
      expect((await server.post('/contacts', { email: `b${more++}@example.com` })).status).to.equal(201);
      return announced.length > 0;
    };
    await eventually(isAnnounced, { what: 'a notification' });
    const most = 1 + Math.ceil((performance.now() - started) / TEST_TIMINGS.idleMode.announce);
    expect(announced.length).to.be.at.most(most);
  });

  it('are not announced by reading', async () => {
    const { server } = await api.project();
    const { announce } = TEST_TIMINGS.idleMode;
    // Until the last announcement is old enough for another one.
    await new Promise((resolve) => setTimeout(resolve, announce));
    const before = announced.length;
    for (let n = 0; n < 3; n++) expect((await server.get('/contacts')).status).to.equal(200);
    await server.post('/contacts', { email: 'last@example.com' });
    await eventually(() => announced.length > before, { what: 'a notification' });
    expect(announced.length).to.equal(before + 1);
  });
});
