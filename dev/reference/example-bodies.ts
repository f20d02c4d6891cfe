// Bodies that the API reference shows where the example of the OpenAPI document, which has every field, would mislead.

const ID = '01928c7e-0000-7000-8000-000000000002';
const OTHER_ID = '01928c7e-0000-7000-8000-000000000003';
const PLAN_IS_PRO = { field: 'data.plan', operator: 'equals', value: 'pro' };

/** Must be on a verified domain. */
const FROM = 'hello@example.com';

/** By operation. */
export const exampleBodies: Record<string, unknown> = {
  'POST /v1/send': {
    to: 'ann@example.com',
    from: FROM,
    subject: 'Hello {{name ?? "there"}}',
    body: '<p>Your code is {{code}}.</p>',
    data: { name: 'Ann', code: { value: '4711', persistent: false } },
  },
  'POST /v1/track': {
    email: 'ann@example.com',
    event: 'signed_up',
    subscribed: true,
    data: { plan: 'pro' },
  },
  'POST /events/track': { name: 'signed_up', contactId: ID, data: { plan: 'pro' } },
  'POST /render': { subject: 'Hello {{name}}', body: '<p>Hello {{name}}</p>', data: { name: 'Ann' } },
  'POST /contacts': { email: 'ann@example.com', subscribed: true, data: { name: 'Ann', plan: 'pro' } },
  'PATCH /contacts/{id}': { data: { plan: 'free' } },
  'POST /contacts/bulk': { action: 'SUBSCRIBE', segmentId: ID, expectedCount: 12 },
  'POST /contacts/bulk-subscribe': { contactIds: [ID] },
  'POST /contacts/bulk-unsubscribe': { contactIds: [ID] },
  'POST /contacts/bulk-delete': { contactIds: [ID] },
  'POST /templates': {
    name: 'Welcome',
    type: 'TRANSACTIONAL',
    from: FROM,
    subject: 'Welcome, {{name ?? "friend"}}',
    body: '<p>Your plan is {{plan}}.</p>',
  },
  'PATCH /templates/{id}': { subject: 'Welcome to the shop' },
  'POST /campaigns': campaignBody(),
  'PUT /campaigns/{id}': campaignBody(),
  'POST /campaigns/{id}/send': {},
  'POST /segments': { name: 'On the plan pro', type: 'DYNAMIC', condition: conditionOf(PLAN_IS_PRO) },
  'POST /segments/preview': { condition: conditionOf(PLAN_IS_PRO) },
  'PATCH /segments/{id}': { name: 'Customers on the plan pro' },
  'POST /segments/{id}/members': { emails: ['ann@example.com'], createMissing: true },
  'POST /suppressions': { email: 'ann@example.com', reason: 'asked by telephone' },
  'POST /webhook-endpoints': { url: 'https://app.example/hook', types: ['email.*', 'contact.unsubscribed'] },
  'PATCH /webhook-endpoints/{id}': { enabled: false },
  'POST /workflows': { name: 'Trial', eventName: 'trial_started' },
  'PATCH /workflows/{id}': { enabled: true },
  'POST /workflows/{id}/steps': {
    type: 'DELAY',
    name: 'A day later',
    config: { amount: 1, unit: 'days' },
    autoConnect: true,
  },
  'PATCH /workflows/{id}/steps/{stepId}': { name: 'Two days later', config: { amount: 2, unit: 'days' } },
  'POST /workflows/{id}/transitions': { fromStepId: ID, toStepId: OTHER_ID },
  'POST /workflows/{id}/executions': { email: 'ann@example.com', context: { source: 'an ad' } },
  'POST /workflows/{id}/simulate': { contact: { email: 'ann@example.com', data: { plan: 'pro' } } },
  'POST /auth/confirm': { password: 'correct horse battery' },
  'POST /auth/login': { email: 'ann@example.com', password: 'correct horse battery' },
  'POST /auth/reset-password': { token: 'token-of-the-mail', newPassword: 'correct horse battery' },
  'POST /projects/{id}/keys': { name: 'Sender', scopes: ['send:write', 'contacts:read'] },
};

function conditionOf(filter: object): object {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}

function campaignBody(): object {
  return {
    name: 'Spring news',
    subject: 'Spring news for {{plan ?? "everyone"}}',
    body: '<h1>News</h1><p><a href="https://example.com">Read on</a></p>',
    from: FROM,
    audienceType: 'ALL',
  };
}
