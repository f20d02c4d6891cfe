import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import type { Notice } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { applyAllContactChanges } from '../../services/segments/changes.ts';
import { sweepTimeDependentSegments } from '../../services/segments/sweep.ts';
import type { ApiProject, TestApi } from '../support/api.ts';
import { addContacts, type CampaignWorker, recipientTo } from '../support/campaigns.ts';
import { reactTo } from '../support/reactions.ts';
import { setSegment, storedContactChanges } from '../support/rows/contacts.ts';
import { setMails } from '../support/rows/mails.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';
import { build, makeTemplate } from '../support/workflow-building.ts';

const SPRING = 'https://shop.example/spring';
const SHOP = 'https://shop.example/shop?c={{ code }}&x=1';
const BODY = `<a href="${SPRING}">Spring</a> <a href="${SHOP.replace('&', '&amp;')}">Shop</a>`;
const HOUR = { value: 1, unit: 'hours' };

describe('conditions on the results of emails', () => {
  let sending: SendingApi;
  let api: TestApi;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: ApiProject;

  before(async () => {
    sending = await startSendingApi();
    ({ api, smtp, worker } = sending);
  });
  after(() => sending?.stop());
  beforeEach(async () => {
    project = await api.project();
    smtp.behave();
  });

  async function post(path: string, body: object) {
    const answer = await project.server.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 202);
    return answer.body;
  }
  const on = (field: string, operator: string, rest: object = {}) => ({
    logic: 'AND',
    groups: [{ filters: [{ field, operator, ...rest }] }],
  });
  const draft = async (more: object = {}): Promise<string> => {
    const campaign = { name: 'Spring', subject: 'Hi', body: BODY, audienceType: 'ALL', ...more };
    return (await post('/campaigns', { from: `news@${project.senderDomain}`, ...campaign })).data.id;
  };
  const send = async (id: string): Promise<string> => {
    await post(`/campaigns/${id}/send`, {});
    await worker.run(id);
    await publishResults(api.db);
    return id;
  };
  const react = async (id: string, name: string, kind: Notice['kind'], more: Partial<Notice> = {}) =>
    reactTo(api.db, (await recipientTo(api.db, id, `${name}@example.com`)).id, kind, more);
  const matching = async (condition: object): Promise<string> => {
    const { id } = await post('/segments', { name: 'Found', condition });
    const { body } = await project.server.get(`/segments/${id}/contacts`);
    return body.data
      .map(({ email }: { email: string }) => email.split('@')[0])
      .sort()
      .join(' ');
  };

  it('match the recipients that the results of a campaign list', async () => {
    await addContacts(api.db, project, 7);
    smtp.misbehave({ at: 'recipient', to: 'p5@example.com', do: { code: 550, text: 'no such user' } });
    const id = await send(await draft());
    await post('/contacts', { email: 'later@example.com', subscribed: true });
    await react(id, 'p0', 'open');
    await react(id, 'p1', 'click', { link: SPRING });
    await react(id, 'p2', 'open', { agent: 'SCANNER' });
    await react(id, 'p3', 'bounce', { bounceType: 'Transient' });
    await react(id, 'p4', 'complaint');
    const cases: [operator: string, expected: string, rest?: object][] = [
      ['received', 'p0 p1 p2 p4 p6'],
      ['notReceived', 'later p3 p5'],
      ['opened', 'p0 p1'],
      ['notOpened', 'p2 p4 p6'],
      ['opened', 'p0 p1 p2', { machine: true }],
      ['notOpened', 'p4 p6', { machine: true }],
      ['clicked', 'p1'],
      ['notClicked', 'p0 p2 p4 p6'],
      ['clicked', 'p1', { link: SPRING }],
      ['clicked', 'p1', { link: 'https://shop.example/s*' }],
      ['clicked', '', { link: SHOP }],
      ['notClicked', 'p0 p1 p2 p4 p6', { link: SHOP }],
      ['bounced', 'p3 p5'],
      ['complained', 'p4'],
      ['unsubscribed', ''],
      ['missed', 'p3 p5'],
      ['heldOut', ''],
      ['receivedWithin', 'p0 p1 p2 p4 p6', HOUR],
      ['receivedOlderThan', '', HOUR],
      ['received', '', { variant: 'A' }],
    ];
    for (const [operator, expected, rest = {}] of cases)
      for (const field of [`campaign.${id}`, 'campaigns'])
        expect(await matching(on(field, operator, rest)), `${field} ${operator} ${JSON.stringify(rest)}`).to.equal(
          expected,
        );
    const { peopleOpenedCount } = (await project.server.get(`/campaigns/${id}/stats`)).body;
    expect(peopleOpenedCount).to.equal(2);
    expect(await project.server.delete(`/campaigns/${id}`)).to.have.status(204);
    expect(await matching(on(`campaign.${id.toUpperCase()}`, 'opened'))).to.equal('p0 p1');
  });

  it('count the emails of campaigns, and restrict them to the last ones', async () => {
    await addContacts(api.db, project, 2);
    const first = await send(await draft());
    const second = await send(
      await draft({ audienceType: 'FILTERED', audienceCondition: on('email', 'startsWith', { value: 'p0' }) }),
    );
    await react(first, 'p0', 'open');
    // The second one is the newer one.
    await setMails(api.db, { campaignId: second }, { sentAt: new Date() });
    expect(await matching(on('campaigns', 'received', { count: 2 }))).to.equal('p0');
    expect(await matching(on('campaigns', 'opened', { count: 2 }))).to.equal('');
    expect(await matching(on('campaigns', 'notOpened', { last: 1 }))).to.equal('p0 p1');
    expect(await matching(on('campaigns', 'notOpened', { last: 2 }))).to.equal('p1');
    expect(await matching(on('campaigns', 'notOpened', { last: 2, count: 2 }))).to.equal('');
    expect(await matching(on('campaigns', 'notReceived', { count: 2 }))).to.equal('p1');
  });

  it('know the emails of a template and of a step, with their links', async () => {
    const templateId = await makeTemplate(project, { body: BODY });
    const { steps } = await build(project, { steps: { send: { type: 'SEND_EMAIL', config: { templateId } } } });
    const sent = await post('/v1/send', { to: 'ann@example.com', template: templateId });
    await worker.send();
    await publishResults(api.db);
    const [{ email: emailId }] = sent.data.emails;
    await setMails(api.db, { id: emailId }, { stepId: steps.send });
    await reactTo(api.db, emailId, 'click', { link: 'https://shop.example/shop?c=AB&x=1' });
    for (const field of [`template.${templateId}`, `step.${steps.send}`]) {
      expect(await matching(on(field, 'clicked', { link: SHOP })), field).to.equal('ann');
      expect(await matching(on(field, 'clicked', { link: SPRING })), field).to.equal('');
      expect(await matching(on(field, 'notClicked', { link: SPRING })), field).to.equal('ann');
    }
    expect(await matching(on('campaigns', 'received'))).to.equal('');
  });

  it('answer 400 to bad input, on campaigns 422', async () => {
    const id = await draft();
    const own = `campaign.${id}`;
    const stranger = await api.project();
    const foreign = await stranger.server.post('/segments', { name: 'A', condition: on(own, 'opened') });
    expect(foreign).to.have.status(400);
    const cases: [condition: object, part: string][] = [
      [on(`campaign.${newId()}`, 'opened'), 'field'],
      [on(`template.${newId()}`, 'received'), 'field'],
      [on(`step.${newId()}`, 'received'), 'field'],
      [on('campaign.spring', 'opened'), 'field'],
      [on(own, 'equals', { value: 1 }), 'operator'],
      [on(own, 'opened', { link: SPRING }), 'link'],
      [on('campaigns', 'notOpened', { link: SPRING }), 'link'],
      [on(own, 'clicked', { link: '' }), 'link'],
      [on(own, 'clicked', { link: 7 }), 'link'],
      [on(own, 'received', { last: 2 }), 'last'],
      [on(own, 'received', { count: 2 }), 'count'],
      [on('campaigns', 'received', { last: 51 }), 'last'],
      [on('campaigns', 'received', { last: 0 }), 'last'],
      [on('campaigns', 'received', { count: 1.5 }), 'count'],
      [on(own, 'opened', { machine: 'yes' }), 'machine'],
      [on(own, 'opened', { variant: '' }), 'variant'],
      [on(own, 'receivedWithin', { value: 1 }), 'unit'],
    ];
    for (const [condition, part] of cases) {
      const path = `groups.0.filters.0.${part}`;
      const created = await project.server.post('/segments', { name: 'A', condition });
      expect([created.status, JSON.stringify(created.body.error).includes(`condition.${path}`)], path).to.deep.equal([
        400,
        true,
      ]);
      const campaign = {
        name: 'A',
        subject: 's',
        body: 'b',
        from: `a@${project.senderDomain}`,
        audienceType: 'FILTERED',
      };
      const answer = await project.server.post('/campaigns', { ...campaign, audienceCondition: condition });
      expect([answer.status, answer.body.error.errors[0].field]).to.deep.equal([422, `audienceCondition.${path}`]);
    }
  });

  it('leave events of these names to event operators', async () => {
    await post('/contacts', { email: 'ann@example.com' });
    await project.browser.post('/v1/track', { event: 'campaigns', email: 'ann@example.com' });
    await project.browser.post('/v1/track', { event: 'template.copied', email: 'ann@example.com' });
    for (const event of ['campaigns', 'template.copied'])
      expect(await matching(on(event, 'triggered')), event).to.equal('ann');
  });

  it('keep tracked segments up to date by notices and by time', async () => {
    await addContacts(api.db, project, 2);
    const id = await draft();
    const tracked = async (operator: string, rest: object = {}) =>
      (
        await post('/segments', {
          name: operator,
          condition: on(`campaign.${id}`, operator, rest),
          trackMembership: true,
        })
      ).id;
    const segments = [
      await tracked('notOpened'),
      await tracked('clicked', { link: SPRING }),
      await tracked('notReceived'),
      await tracked('receivedWithin', HOUR),
    ];
    const counts = async () => {
      await applyAllContactChanges(api.db);
      const found = [];
      for (const segment of segments) found.push((await project.server.get(`/segments/${segment}`)).body.memberCount);
      return found;
    };
    expect(await counts()).to.deep.equal([0, 0, 2, 0]);
    await send(id);
    expect(await counts()).to.deep.equal([2, 0, 0, 2]);
    await react(id, 'p0', 'click', { link: SPRING });
    expect(await counts()).to.deep.equal([1, 1, 0, 2]);
    // Nothing that they depend on has changed.
    await react(id, 'p0', 'click', { link: SPRING });
    expect(await storedContactChanges(api.db, project.id)).to.deep.equal([]);
    await setMails(api.db, { campaignId: id }, { sentAt: new Date(Date.now() - 2 * 3_600_000) });
    await setSegment(api.db, segments[3], { sweptAt: new Date(Date.now() - 3 * 3_600_000) });
    await sweepTimeDependentSegments(api.db);
    expect(await counts()).to.deep.equal([1, 1, 0, 0]);
  });
});
