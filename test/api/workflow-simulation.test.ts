import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { type Built, build, makeTemplate } from '../support/workflow-building.ts';

const START = '2027-01-31T12:00:00.000Z';
const ann = { email: 'ann@example.com', subscribed: true, data: { name: 'Ann', plan: 'pro' } };
const exit = (reason: string) => ({ type: 'EXIT', config: { reason } });
const counted = ['contacts', 'events', 'emails', 'executions', 'execution_steps', 'outbox', 'workflow_versions'];

describe('POST /workflows/:id/simulate', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi({
      env: { RATE_LIMIT_PER_MINUTE: '100000', WEBHOOK_ALLOWED_HOSTS: '127.0.0.1:4444' },
    });
    project = await api.project();
  });
  after(() => api.stop());

  const simulate = (id: string, body: object) =>
    project.server.post(`/workflows/${id}/simulate`, { startAt: START, contact: ann, ...body });
  const run = async (built: Pick<Built, 'id'>, body: object = {}) => {
    const answer = await simulate(built.id, body);
    expect(answer).to.have.status(200);
    return answer.body;
  };
  /** Each visit as `name status branch`. */
  const pathOf = ({ path }: { path: Record<string, string>[] }) =>
    path.map(({ name, status, branch }) => [name, status, branch].filter(Boolean).join(' '));

  it('takes a date-time, seconds or a span as `at` and as `after` of an event', async () => {
    const built = await build(project, {
      steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } }, out: exit('done') },
      transitions: [['wait', 'out', 'event']],
    });
    const at = '2027-02-01T12:00:00.000Z';
    for (const time of [at, 86_400, { amount: 1, unit: 'days' }])
      for (const key of ['at', 'after']) {
        const { path } = await run(built, { events: [{ name: 'bought', [key]: time }] });
        expect(path[0], `${key} ${JSON.stringify(time)}`).to.include({ branch: 'event', leftAt: at });
      }
    for (const key of ['at', 'after'])
      expect((await simulate(built.id, { events: [{ name: 'bought', [key]: 'soon' }] })).status).to.equal(422);
  });

  it('takes the exits of step types as branches of a graph', async () => {
    const { types } = (await project.server.get('/workflows/step-types')).body;
    const { exits } = types.find(({ type }: { type: string }) => type === 'DELAY');
    const steps = [
      { id: 'wait', type: 'DELAY', config: { amount: 1, unit: 'days' } },
      { id: 'out', type: 'EXIT', config: {} },
    ];
    const graph = { steps, transitions: [{ fromStepId: 'wait', toStepId: 'out', branch: exits[0] }] };
    const built = await build(project, { steps: { wait: steps[0] ?? exit(''), out: exit('done') } });
    expect(pathOf(await run(built, { graph }))).to.deep.equal(['wait COMPLETED', 'out COMPLETED']);
    const fromStepId = built.steps.wait;
    const toStepId = built.steps.out;
    const added = await project.server.post(`/workflows/${built.id}/transitions`, {
      fromStepId,
      toStepId,
      branch: 'next',
    });
    expect(added).to.have.status(201);
    expect(added.body.branch).to.equal(null);
    const expected = [{ stepId: fromStepId, branch: 'next' }, { stepId: toStepId }];
    await project.server.post(`/workflows/${built.id}/cases`, { name: 'ends', contact: ann, expect: expected });
    expect((await project.server.post(`/workflows/${built.id}/cases/run`, {})).body).to.include({ passed: 1 });
  });

  it('returns the path with virtual times, mails and webhook calls, and stores nothing', async () => {
    const templateId = await makeTemplate(project, {
      subject: 'Welcome {{ name }}',
      body: '<p>{{ event.source }} {{ plan }} {{ source }}</p>',
      type: 'MARKETING',
      fromName: 'Everpost',
    });
    const built = await build(project, {
      steps: {
        month: { type: 'DELAY', config: { amount: 1, unit: 'months' } },
        mark: { type: 'UPDATE_CONTACT', config: { data: { plan: 'team' } } },
        mail: { type: 'SEND_EMAIL', config: { templateId, replyTo: 'help@example.com' } },
        call: {
          type: 'WEBHOOK',
          config: { url: 'https://example.com/{{ id }}?n={{ name }}', headers: { 'X-Plan': '{{ plan }}' } },
        },
        leave: exit('done'),
      },
      transitions: [
        ['month', 'mark'],
        ['mark', 'mail'],
        ['mail', 'call'],
        ['call', 'leave'],
      ],
    });
    const counts = () =>
      Promise.all(counted.map(async (table) => (await api.db(table).count().first<{ count: string }>()).count));
    const before = await counts();
    const result = await run(built, { context: { source: 'ad' } });
    expect(await counts()).to.deep.equal(before);

    expect(result).to.include({
      status: 'EXITED',
      reason: 'done',
      startedAt: START,
      endedAt: '2027-02-28T12:00:00.000Z',
    });
    expect(pathOf(result)).to.deep.equal(['month', 'mark', 'mail', 'call', 'leave'].map((name) => `${name} COMPLETED`));
    expect(result.path[0]).to.include({
      visit: 1,
      stepId: built.steps.month,
      type: 'DELAY',
      enteredAt: START,
      scheduledFor: '2027-02-28T12:00:00.000Z',
      leftAt: '2027-02-28T12:00:00.000Z',
    });
    expect(result.contact.data).to.deep.equal({ name: 'Ann', plan: 'team' });
    const [mail] = result.emails;
    expect(mail).to.include({
      stepId: built.steps.mail,
      at: '2027-02-28T12:00:00.000Z',
      templateId,
      to: 'ann@example.com',
      from: `hello@${project.senderDomain}`,
      fromName: 'Everpost',
      replyTo: 'help@example.com',
      subject: 'Welcome Ann',
    });
    expect(mail.html).to.include('<p>ad team ad</p>').and.include('/unsubscribe/simulated');
    expect(mail.text).to.include('ad team');
    const [call] = result.webhooks;
    expect(call).to.include({ stepId: built.steps.call, method: 'POST' });
    expect(call.url).to.equal(`https://example.com/${result.contact.id}?n=Ann`);
    expect(call.headers).to.include({ 'x-plan': 'team' });
    expect(JSON.parse(call.body)).to.have.all.keys('contact', 'workflow', 'execution', 'event');
  });

  it('returns the filters that decided a branch', async () => {
    const filter = (key: string, value: unknown) => ({ field: `data.${key}`, operator: 'equals', value });
    const groups = [{ filters: [filter('name', 'Ann'), filter('plan', 'free')] }, { filters: [filter('plan', 'pro')] }];
    const built = await build(project, {
      steps: { fork: { type: 'CONDITION', config: { logic: 'OR', groups } }, a: exit('yes'), b: exit('no') },
      transitions: [
        ['fork', 'a', 'yes'],
        ['fork', 'b', 'no'],
      ],
    });
    const yes = (await run(built)).path[0];
    expect(yes).to.include({ branch: 'yes', reason: 'data.plan equals "pro" is true' });
    expect(yes.filters).to.deep.equal([
      { path: 'groups.0.filters.0', ...filter('name', 'Ann'), matched: true, decisive: false },
      { path: 'groups.0.filters.1', ...filter('plan', 'free'), matched: false, decisive: false },
      { path: 'groups.1.filters.0', ...filter('plan', 'pro'), matched: true, decisive: true },
    ]);
    const no = (await run(built, { contact: { ...ann, data: { name: 'Ann', plan: 'team' } } })).path[0];
    expect(no).to.include({
      branch: 'no',
      reason: 'data.plan equals "free" is false; data.plan equals "pro" is false',
    });
  });

  it('evaluates conditions on earlier events, the starting event and the context', async () => {
    const ask = (config: object) => ({ type: 'CONDITION', config });
    const built = await build(project, {
      steps: {
        trigger: ask({ field: 'event.signed up', operator: 'triggered' }),
        twice: ask({ field: 'event.visited', operator: 'triggeredWithin', value: 2, unit: 'days', count: 2 }),
        total: ask({ field: 'event.total', operator: 'greaterThan', value: 10 }),
        out: exit('all three'),
      },
      transitions: [
        ['trigger', 'twice', 'yes'],
        ['twice', 'total', 'yes'],
        ['total', 'out', 'yes'],
      ],
    });
    const visits = ['2027-01-30T12:00:00Z', '2027-01-31T11:00:00Z'].map((at) => ({ name: 'visited', at }));
    expect(await run(built, { events: visits, context: { total: 11 } })).to.include({ reason: 'all three' });
    expect(pathOf(await run(built, { events: visits.slice(1) }))).to.deep.equal([
      'trigger COMPLETED yes',
      'twice COMPLETED no',
    ]);
  });

  describe('a wait', () => {
    let built: Built;
    before(async () => {
      built = await build(project, {
        steps: {
          pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } },
          wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout: { amount: 2, unit: 'days' } } },
          paid: { type: 'CONDITION', config: { field: 'event.total', operator: 'exists' } },
          yes: exit('bought'),
          no: exit('gave up'),
        },
        transitions: [
          ['pause', 'wait'],
          ['wait', 'paid', 'event'],
          ['wait', 'no', 'timeout'],
          ['paid', 'yes', 'yes'],
        ],
      });
    });
    const bought = (after: object) => ({ name: 'bought', data: { total: 5, city: 'Ulm' }, after });

    it('ends with the event, and merges its data into the context and the contact', async () => {
      const result = await run(built, { events: [bought({ amount: 30, unit: 'hours' })] });
      expect(result).to.include({ status: 'EXITED', reason: 'bought', endedAt: '2027-02-01T18:00:00.000Z' });
      expect(result.context).to.deep.equal({ total: 5, city: 'Ulm' });
      expect(result.contact.data).to.include({ city: 'Ulm', plan: 'pro' });
      expect(result.path[1].reason).to.equal('the event "bought" occurred at 2027-02-01T18:00:00.000Z');
      expect(result.path[1].scheduledFor).to.equal('2027-02-03T12:00:00.000Z');
    });

    it('ends by its timeout when the event came too early, too late or never', async () => {
      for (const events of [[], [bought({ amount: 1, unit: 'hours' })], [bought({ amount: 73, unit: 'hours' })]]) {
        const result = await run(built, { events });
        expect(result).to.include({ reason: 'gave up', endedAt: '2027-02-03T12:00:00.000Z' });
        expect(result.path[1]).to.include({ branch: 'timeout' });
      }
    });

    it('never ends without a timeout and without the event', async () => {
      const forever = await build(project, {
        steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } } },
      });
      const result = await run(forever);
      expect(result.status).to.equal('WAITING');
      expect(result.reason).to.include('bought');
      expect(result.path[0]).to.include({ status: 'WAITING', leftAt: null });
      expect((await run(forever, { events: [bought({ amount: 900, unit: 'days' })] })).status).to.equal('COMPLETED');
    });
  });

  it('skips mail to an unsubscribed contact, and ends a wait for contact.unsubscribed when a step unsubscribes', async () => {
    const templateId = await makeTemplate(project, { type: 'MARKETING' });
    const built = await build(project, {
      steps: {
        off: { type: 'UPDATE_CONTACT', config: { subscribed: false } },
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'contact.unsubscribed' } },
        mail: { type: 'SEND_EMAIL', config: { templateId } },
      },
      transitions: [
        ['off', 'wait'],
        ['wait', 'mail'],
      ],
    });
    const result = await run(built);
    expect(pathOf(result)).to.deep.equal(['off COMPLETED', 'wait COMPLETED event', 'mail SKIPPED']);
    expect(result.path[2].reason).to.include('not subscribed');
    expect(result.emails).to.deep.equal([]);
    expect(result.contact.subscribed).to.equal(false);
  });

  it('fails where an execution would: at an invalid date and a forbidden URL', async () => {
    const date = await build(project, { steps: { until: { type: 'DELAY', config: { until: 'data.trialEnd' } } } });
    expect(await run(date)).to.include({ status: 'FAILED', reason: 'the contact has no date in data.trialEnd' });
    const call = await build(project, { steps: { call: { type: 'WEBHOOK', config: { url: 'http://{{ host }}/' } } } });
    const result = await run(call, { contact: { email: 'a@example.com', data: { host: '169.254.169.254' } } });
    expect(result.status).to.equal('FAILED');
    expect(result.reason).to.include('169.254.169.254');
    expect(result.webhooks).to.deep.equal([]);
  });

  describe('the contact', () => {
    const steps = { in: { type: 'CONDITION', config: { field: 'data.vip', operator: 'equals', value: true } } };

    it('may be a stored one by id or address, with overrides that are not stored', async () => {
      const built = await build(project, { steps });
      const { id, email } = (
        await project.server.post('/contacts', { email: 'real@example.com', data: { name: 'Real', vip: true } })
      ).body;
      for (const who of [
        { contact: { id } },
        { contact: { email } },
        { contact: undefined, contactId: id },
        { contact: undefined, email },
      ]) {
        const result = await run(built, who);
        expect(result.contact).to.deep.equal({ id, email, subscribed: true, data: { name: 'Real', vip: true } });
        expect(result.path[0].branch).to.equal('yes');
      }
      const assumed = await run(built, { contact: { id, data: { vip: false } } });
      expect(assumed.path[0].branch).to.equal('no');
      expect(assumed.contact.data).to.deep.equal({ name: 'Real', vip: false });
      expect((await project.server.get(`/contacts/${id}`)).body.data).to.deep.equal({ name: 'Real', vip: true });
    });

    it('includes its recorded events and segments', async () => {
      const tracked = await project.browser.post('/v1/track', { email: 'seen@example.com', event: 'visited' });
      const segment = (await project.server.post('/segments', { name: 'Few', type: 'STATIC' })).body.id;
      await project.server.post(`/segments/${segment}/members`, { emails: ['seen@example.com'] });
      const built = await build(project, {
        steps: {
          seen: { type: 'CONDITION', config: { field: 'event.visited', operator: 'triggered' } },
          few: { type: 'CONDITION', config: { field: `segment.${segment}`, operator: 'memberOfSegment' } },
          out: exit('both'),
        },
        transitions: [
          ['seen', 'few', 'yes'],
          ['few', 'out', 'yes'],
        ],
      });
      const who = { contact: { id: tracked.body.data.contact }, startAt: '2027-06-01T00:00:00Z' };
      expect(await run(built, who)).to.include({ reason: 'both' });
      expect(pathOf(await run(built))).to.deep.equal(['seen COMPLETED no']);
    });

    it('is rejected with 404 when it does not exist, and with 422 when it is missing', async () => {
      const built = await build(project, { steps });
      const other = await api.project();
      const foreign = (await other.server.post('/contacts', { email: 'x@example.com' })).body.id;
      for (const id of [newId(), foreign])
        expect(await simulate(built.id, { contact: { id } })).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await simulate(built.id, { contact: {} })).to.have.validationError('contact', 'required');
      expect(await simulate(built.id, { contact: { email: 'x' } })).to.have.validationError(
        'contact.email',
        'invalid_string',
      );
    });
  });

  describe('a draft', () => {
    const draft = (steps: object[], transitions: object[] = []) => ({ graph: { steps, transitions } });
    let id: string;
    before(async () => {
      ({ id } = await build(project, { steps: {} }));
    });

    it('is run instead of the stored graph, with its own ids', async () => {
      const steps = [
        { id: 'ask', type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
        { id: 'out', type: 'EXIT', config: { reason: 'pro' } },
      ];
      const transitions = [{ fromStepId: 'ask', toStepId: 'out', condition: { branch: 'yes' } }];
      expect(await run({ id }, draft(steps, transitions))).to.include({ status: 'EXITED', reason: 'pro' });
    });

    it('is validated by the rules for graphs', async () => {
      const update = (name: string) => ({ id: name, type: 'UPDATE_CONTACT', config: { data: { a: 1 } } });
      const way = (fromStepId: string, toStepId: string) => ({ fromStepId, toStepId });
      const refused = [
        draft([update('a'), update('b')], [way('a', 'b'), way('b', 'a')]),
        draft([update('a'), update('b')]),
        draft([update('a'), update('a')]),
        draft([update('a')], [way('a', 'nowhere')]),
        draft([{ id: 'a', type: 'DELAY' }]),
        draft([{ id: 'a', type: 'WEBHOOK', config: { url: 'http://10.0.0.1/' } }]),
        draft([{ id: 'a', type: 'SEND_EMAIL', templateId: newId() }]),
        draft([]),
      ];
      for (const body of refused)
        expect(await simulate(id, body), JSON.stringify(body)).to.be.envelope(400, 'BAD_REQUEST');
      const shapeless = draft([update('a'), { id: 'b', type: 'DELAY', config: { amount: 'x' } }]);
      expect(await simulate(id, shapeless)).to.have.validationError('graph.steps.1.config.amount', 'invalid_type');
    });
  });

  it('stops after 1,000 steps or ten years', async () => {
    const round = await build(project, {
      steps: {
        first: { type: 'UPDATE_CONTACT', config: { data: { a: 1 } } },
        pause: { type: 'DELAY', config: { amount: 1, unit: 'minutes' } },
        again: { type: 'UPDATE_CONTACT', config: { data: { a: 2 } } },
      },
      transitions: [
        ['first', 'pause'],
        ['pause', 'again'],
        ['again', 'pause'],
      ],
    });
    const long = await run(round);
    expect(long.status).to.equal('STOPPED');
    expect(long.path).to.have.length(1000);
    expect(long.truncated).to.include({ reason: 'the simulation ends here: after 1000 steps' });
    const far = await build(project, {
      steps: { pause: { type: 'DELAY', config: { amount: 11 * 12, unit: 'months' } } },
    });
    const result = await run(far);
    expect(result.status).to.equal('STOPPED');
    expect(result.path[0]).to.include({ status: 'WAITING', scheduledFor: '2038-01-31T12:00:00.000Z' });
  });

  describe('has one budget for the whole answer', () => {
    const MAX_ANSWER = 10 * 1024 * 1024;
    const pause = { id: 'pause', type: 'DELAY', config: { amount: 1, unit: 'minutes' } };
    /** A loop of a DELAY and the given steps, in order. */
    const circle = (...steps: { id: string }[]) => {
      const ids = ['pause', ...steps.map(({ id }) => id), 'pause'];
      const transitions = ids.slice(1).map((toStepId, n) => ({ fromStepId: ids[n], toStepId }));
      return {
        graph: {
          steps: [{ id: 'start', type: 'DELAY', config: { amount: 1, unit: 'minutes' } }, pause, ...steps],
          transitions: [{ fromStepId: 'start', toStepId: 'pause' }, ...transitions],
        },
      };
    };
    let id: string;
    before(async () => {
      ({ id } = await build(project, { steps: { leave: exit('unused') } }));
    });
    const bounded = async (body: object) => {
      const result = await run({ id }, body);
      expect(Buffer.byteLength(JSON.stringify(result))).to.be.below(MAX_ANSWER);
      return result;
    };

    it('stops a loop over a condition of 250 KB, with the step at which it stopped', async () => {
      const value = 'x'.repeat(250_000);
      const ask = { id: 'ask', type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value } };
      const { graph } = circle(ask);
      graph.transitions = graph.transitions.map((way) => (way.fromStepId === 'ask' ? { ...way, branch: 'no' } : way));
      const result = await bounded({ graph });
      const reason = 'the simulation ends here: the response would exceed 4 MB';
      expect(result).to.include({ status: 'STOPPED', reason });
      expect(result.path.filter(({ stepId }: { stepId: string }) => stepId === 'ask')).to.have.length(16);
      expect(result.truncated).to.deep.equal({ at: { stepId: 'ask', visit: result.path.length + 1 }, reason });
      const asked = result.path.find(({ stepId }: { stepId: string }) => stepId === 'ask');
      expect(asked.filters[0]).to.include({ value, matched: false });
      expect(asked.reason.length).to.be.below(300);
    });

    it('omits the bodies of requests beyond 4 MB, and ends after 32 MB of work', async () => {
      const call = {
        id: 'call',
        type: 'WEBHOOK',
        config: { url: 'https://example.com/', body: { text: 'y'.repeat(200_000) } },
      };
      const result = await bounded(circle(call));
      expect(result).to.include({ status: 'STOPPED' });
      expect(result.reason).to.contain('more than 32 MB would be read and rendered');
      expect(result.truncated.at.stepId).to.equal('call');
      expect(result.truncated.reason).to.contain('are omitted from here on: they exceed 4 MB');
      const bodies = result.webhooks.map(({ body }: { body: string | null }) => body !== null);
      expect(bodies.slice(0, 20)).to.not.include(false);
      expect(bodies.slice(20)).to.not.include(true);
    });

    it('omits the bodies of mails beyond 4 MB', async () => {
      const body = `<p>${'word '.repeat(60_000)}</p>`;
      const templateId = await makeTemplate(project, { subject: 'Long', body, type: 'TRANSACTIONAL' });
      const result = await bounded(circle({ id: 'mail', type: 'SEND_EMAIL', templateId } as { id: string }));
      expect(result.emails.at(0).html).to.be.a('string');
      expect(result.emails.at(-1)).to.include({ html: null, text: null });
      expect(result.truncated.at.stepId).to.equal('mail');
    });

    it('omits nothing from a small answer', async () => {
      const built = await build(project, { steps: { leave: exit('done') } });
      expect(await run(built)).to.include({ status: 'EXITED', truncated: null });
    });
  });

  it('answers 400 with every validation error of an invalid graph, and 404 to an unknown workflow', async () => {
    const { id } = await build(project, { steps: { a: { type: 'DELAY' }, b: { type: 'WEBHOOK' } } });
    const answer = await simulate(id, {});
    expect(answer).to.be.envelope(400, 'BAD_REQUEST');
    expect(answer.body.error.errors).to.have.length(3);
    expect(await simulate(newId(), {})).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    expect(await simulate('nonsense', {})).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
  });

  it('answers 422 to a time outside the calendar', async () => {
    const { id } = await build(project, { steps: { a: { type: 'DELAY', config: { amount: 1, unit: 'months' } } } });
    for (const far of ['+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z', 'soon']) {
      expect(await simulate(id, { startAt: far })).to.have.validationError('startAt', 'invalid_string');
      expect(await simulate(id, { events: [{ name: 'x', at: far }] })).to.have.validationError(
        'events.0.at',
        'invalid_string',
      );
    }
    expect(await simulate(id, { startAt: '9999-12-31T00:00:00Z' })).to.have.status(200);
  });
});
