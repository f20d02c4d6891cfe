import { expect } from 'chai';
import { Membership } from '../../db/models/membership.ts';
import { newId } from '../../platform/ids.ts';
import { person } from '../support/accounts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { storedWebhookSecrets } from '../support/rows/webhooks.ts';

describeApi('the webhook secret of a project', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const path = (id = project.id) => `/projects/${id}/webhook-secret`;

  it('is created once for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => project.server.get(path())));
    const secrets = new Set(answers.map(({ body }) => body.secret));
    expect(secrets.size).to.equal(1);
    expect([...secrets][0]).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await project.owner.get(path())).body.secret).to.equal([...secrets][0]);
  });

  it('is replaced by a rotation, which returns the new one', async () => {
    const before = (await project.server.get(path())).body.secret;
    const rotated = await project.owner.post(`${path()}/rotate`);
    expect(rotated).to.have.status(200);
    expect(rotated.body.secret)
      .to.match(/^whsec_/)
      .and.not.equal(before);
    expect((await project.server.get(path())).body).to.deep.equal(rotated.body);
  });

  it('is sealed in the database', async () => {
    const { secret } = (await project.server.get(path())).body;
    const [row] = await storedWebhookSecrets(api.db, project.id);
    expect(row.sealed).to.match(/^v1\./).and.not.include(secret.slice(6));
  });

  it('answers 404 to the id of another project, an unknown id and an invalid one', async () => {
    const other = await api.project();
    for (const caller of [project.server, project.owner])
      for (const id of [other.id, newId(), 'mine']) {
        expect(await caller.get(path(id))).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
        expect(await caller.post(`${path(id)}/rotate`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      }
    expect(await storedWebhookSecrets(api.db, other.id)).to.have.length(0);
  });

  it('is readable by admins and owners, with 403 for a member and 401 for the public key', async () => {
    const member = await person(api, { project: project.id, role: 'MEMBER' });
    expect(await member.get(path())).to.be.envelope(403, 'FORBIDDEN');
    await Membership.query(api.db).where({ userId: member.id }).patch({ role: 'ADMIN' });
    expect(await member.get(path())).to.have.status(200);
    expect(await project.browser.get(path())).to.be.envelope(401, 'INVALID_API_KEY');
  });
});
