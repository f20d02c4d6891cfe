import { expect } from 'chai';
import { type ApiProject, type Client, client, startTestApi, type TestApi } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { storedContent } from '../support/rows/mails.ts';

describe('mail of a template that another API process changes', () => {
  let database: ConnectedDatabase;
  let apis: TestApi[];
  let project: ApiProject;
  let other: Client;

  before(async () => {
    database = await connectTestDatabase(5);
    const env = { SECRET_KEY: 'a secret key for these tests' };
    apis = [await startTestApi({ database, env }), await startTestApi({ database, env })];
    const [one, two] = apis;
    if (!one || !two) throw new Error('an API is missing');
    project = await one.project();
    other = client(two.url, { authorization: `Bearer ${project.secretKey}` });
  });
  after(async () => {
    for (const api of apis) await api.stop();
    await database.close();
  });

  const template = async (more: object = {}): Promise<string> => {
    const from = `hello@${project.senderDomain}`;
    const content = { name: 'Welcome', subject: 'One', body: '<p>One</p>', type: 'TRANSACTIONAL', from, ...more };
    const answer = await project.server.post('/templates', content);
    expect(answer).to.have.status(201);
    return answer.body.id;
  };
  const send = (id: string, more: object = {}) =>
    project.server.post('/v1/send', { to: 'ann@example.com', template: id, ...more });
  const contentOf = async (id: string, more: object = {}) => {
    const answer = await send(id, more);
    expect(answer).to.have.status(200);
    return storedContent(database.db, answer.body.data.emails[0].email);
  };

  it('has the content of the template as it is when the mail is accepted', async () => {
    const id = await template();
    for (let mails = 0; mails < 3; mails++)
      expect(await contentOf(id)).to.include({ subject: 'One', html: '<p>One</p>' });
    await other.patch(`/templates/${id}`, { subject: 'Two', body: '<p>Two</p>' });
    for (let mails = 0; mails < 3; mails++)
      expect(await contentOf(id)).to.include({ subject: 'Two', html: '<p>Two</p>' });
    await other.patch(`/templates/${id}`, { body: '<p>One</p>' });
    expect(await contentOf(id)).to.include({ subject: 'Two', html: '<p>One</p>' });
  });

  it('is rejected with 404 once the template is deleted', async () => {
    const id = await template();
    await contentOf(id);
    expect(await other.delete(`/templates/${id}`)).to.have.status(204);
    expect(await send(id)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
  });

  it('is accepted once the template has the sender that it lacked, and rejected with 422 before', async () => {
    const id = await template({ from: undefined });
    await contentOf(id, { from: `own@${project.senderDomain}` });
    expect(await send(id)).to.have.validationError('from', 'required');
    await other.patch(`/templates/${id}`, { from: `hello@${project.senderDomain}` });
    expect(await contentOf(id)).to.include({ fromEmail: `hello@${project.senderDomain}` });
  });

  it('is for subscribed contacts only once the template is for marketing', async () => {
    const id = await template();
    await contentOf(id);
    await other.patch(`/templates/${id}`, { type: 'MARKETING' });
    expect(await send(id)).to.be.envelope(400, 'BAD_REQUEST');
  });
});
