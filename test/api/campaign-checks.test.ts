import { expect } from 'chai';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';

describe('POST /campaigns/:id/checks', () => {
  let api: TestApi;
  let web: HttpReceiver;
  let project: ApiProject;

  before(async () => {
    web = await startHttpReceiver();
    api = await startTestApi({ env: { WEBHOOK_ALLOWED_HOSTS: web.host } });
    project = await api.project();
    const people = [
      { firstName: 'Ann', 'last name': 'Lee' },
      { firstName: '' },
      { firstName: null, plan: { tier: 1 } },
    ];
    for (const [n, data] of people.entries())
      await project.server.post('/contacts', { email: `p${n}@example.com`, data, subscribed: true });
    await project.server.post('/contacts', { email: 'gone@example.com', subscribed: false });
  });
  after(async () => {
    await api.stop();
    await web.stop();
  });

  const check = async (content: object, body: object = {}) => {
    const from = `news@${project.senderDomain}`;
    const campaign = { name: 'News', subject: 'News', from, audienceType: 'ALL', ...content };
    const { id } = (await project.server.post('/campaigns', campaign)).body.data;
    const answer = await project.server.post(`/campaigns/${id}/checks`, body);
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return answer.body;
  };

  it('counts variables over the recipients', async () => {
    const body = '<p>{{ firstName }} {{ last name ?? "x" }} {{ plan.tier }} {{ email }}</p>';
    const { variables, links } = await check({ subject: 'Hi {{ firstName ?? "x" }}', body });
    expect(variables).to.deep.equal([
      { name: 'firstName', empty: 2, total: 3, hasFallback: false },
      { name: 'last name', empty: 2, total: 3, hasFallback: true },
      { name: 'plan.tier', empty: 2, total: 3, hasFallback: false },
    ]);
    expect(links).to.equal(undefined);
    const all = await check({ body, type: 'TRANSACTIONAL' });
    expect(all.variables[0]).to.include({ empty: 3, total: 4 });
  });

  it('shows the state of the domain, and warns as /render does', async () => {
    const { domain, warnings } = await check({ body: '<a href="#">x</a>\n<p>{{ nothing }}</p>', type: 'HEADLESS' });
    expect(domain).to.include({ domain: project.senderDomain, verified: true });
    expect(domain.records).to.be.an('array');
    expect(
      warnings.map(({ code, level, line }: Record<string, unknown>) => [code, level, line].join(' ')),
    ).to.deep.equal(['link_empty ERROR 1', 'variable_unknown WARNING 2', 'unsubscribe_missing ERROR ']);
  });

  it('calls links with HEAD, then GET, but none of ours and no private address', async () => {
    web.answer(({ method }) => ({ status: method === 'HEAD' ? 405 : 200 }), '/get-only');
    web.answer({ status: 404 }, '/gone');
    const private_ = 'http://127.0.0.1:1/private';
    const body = ['/fine', '/get-only', '/gone', '/fine']
      .map((path) => `<a href="${web.url}${path}">x</a>`)
      .concat([`<a href="${private_}">x</a>`, '<a href="{{ unsubscribeUrl }}">x</a>', '<a href="mailto:a@b.co">x</a>'])
      .join('');
    const { links } = await check({ body }, { links: true });
    const [fine, getOnly, gone, refused, ...others] = links;
    expect(fine).to.deep.equal({ link: `${web.url}/fine`, status: 200, error: null });
    expect(getOnly).to.deep.equal({ link: `${web.url}/get-only`, status: 200, error: null });
    expect(gone).to.include({ link: `${web.url}/gone`, status: 404 });
    expect(gone.error).to.be.a('string');
    expect(refused).to.include({ link: private_, status: null });
    expect(others).to.deep.equal([]);
    expect(web.requests.map(({ method, path }) => `${method} ${path}`)).to.have.members([
      'HEAD /fine',
      'HEAD /get-only',
      'GET /get-only',
      'HEAD /gone',
      'GET /gone',
    ]);
  });

  it('answers 404 to another project', async () => {
    const stranger = await api.project();
    const from = `news@${project.senderDomain}`;
    const campaign = { name: 'News', subject: 'News', from, audienceType: 'ALL', body: 'x' };
    const { id } = (await project.server.post('/campaigns', campaign)).body.data;
    expect(await stranger.server.post(`/campaigns/${id}/checks`, {})).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
  });
});
