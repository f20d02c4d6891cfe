// What each page of the web application asks the API for when it opens: page -> calls, in the spelling of the OpenAPI
// document, with the names of `PageIds` in braces. `test/unit/page-calls.test.ts` fails when the application reads a path
// that is missing here.

/** Ids of the measured project that calls need. */
export type PageIds = Record<
  | 'project'
  | 'contact'
  | 'segment'
  | 'topic'
  | 'form'
  | 'savedBlock'
  | 'template'
  | 'campaign'
  | 'draft'
  | 'email'
  | 'workflow'
  | 'execution'
  | 'endpoint'
  | 'delivery'
  | 'job'
  | 'importJob'
  | 'bulkJob'
  | 'since'
  | 'today'
  | 'week',
  string
>;

export const PAGE_CALLS: Record<string, string[]> = {
  'every page': ['/users/@me', '/users/@me/projects', '/notifications?limit=1'],
  'command palette': ['/contacts?search=needle&limit=5', '/campaigns?search=needle&pageSize=5'],
  home: [
    '/projects/{project}/setup-state',
    '/analytics/timeseries?startDate={since}T00:00:00.000Z&granularity=day',
    '/users/@me/projects/{project}/security',
    '/activity/upcoming?limit=8&grouped=true',
    '/emails?status=UNKNOWN&limit=1',
    '/emails?status=FAILED&limit=1&startDate={week}T00:00:00.000Z',
    '/emails?blocked=true&limit=1',
    '/executions?status=FAILED&limit=1',
    '/campaigns?status=SENDING&pageSize=20',
    '/domains/project/{project}',
    '/webhook-endpoints',
  ],
  activity: [
    '/activity?limit=50',
    '/activity?types=email.opened,email.clicked&limit=50',
    '/activity?contactId={contact}&limit=50',
    '/activity/upcoming?limit=20',
    '/contacts/{contact}',
    '/contacts?search=needle&limit=20',
  ],
  analytics: [
    '/analytics/timeseries?startDate={since}&endDate={today}&granularity=day',
    '/analytics/top-campaigns?startDate={since}&endDate={today}&limit=10&metric=humanOpens',
    '/analytics/top-events?startDate={since}&endDate={today}&limit=10',
    '/analytics/top-links?startDate={since}&endDate={today}&limit=10',
    '/analytics/by-template?startDate={since}&endDate={today}&limit=10',
    '/analytics/by-domain?startDate={since}&endDate={today}&limit=20',
  ],
  notifications: ['/notifications?limit=50', '/users/@me/notification-settings'],
  contacts: ['/contacts?limit=50', '/contacts/fields', '/contacts?query=needle&limit=50', '/views'],
  'import of contacts': ['/config', '/topics?archived=false', '/contacts/import/{importJob}'],
  'bulk change of contacts': ['/contacts/bulk/{bulkJob}'],
  contact: [
    '/contacts/{contact}',
    '/activity?contactId={contact}&limit=50',
    '/emails?contactId={contact}&limit=50',
    '/contacts/{contact}/segments',
    '/contacts/{contact}/executions',
    '/contacts/{contact}/topics',
    '/contacts/{contact}/consents?limit=50',
  ],
  topics: ['/topics', '/topics?archived=true'],
  topic: ['/topics/{topic}', '/templates?pageSize=100&type=TRANSACTIONAL'],
  segments: ['/segments'],
  segment: [
    '/segments/{segment}',
    '/segments/{segment}/contacts?page=1&pageSize=50',
    '/contacts/fields/data.tag/values?limit=100',
    '/events/names',
    '/workflows?pageSize=100',
    '/workflows/{workflow}',
    '/campaigns?pageSize=100',
  ],
  forms: ['/forms', '/forms/{form}/stats?startDate={since}'],
  form: [
    '/forms/{form}',
    '/forms/{form}/embed',
    '/forms/{form}/submissions?limit=50',
    '/forms/{form}/submissions?status=PENDING&limit=50',
  ],
  templates: ['/templates?page=1&pageSize=50&sort=updatedAt'],
  template: [
    '/templates/{template}',
    '/templates/{template}/versions?limit=10',
    '/templates/{template}/usage',
    '/templates/{template}/draft',
    '/contacts?limit=10',
  ],
  brand: ['/brand-kit'],
  'saved blocks': ['/saved-blocks'],
  'saved block': ['/saved-blocks/{savedBlock}', '/saved-blocks/{savedBlock}/usage'],
  campaigns: ['/campaigns?page=1&pageSize=50'],
  'edit a campaign': ['/campaigns/{draft}', '/templates?pageSize=100&sort=updatedAt'],
  campaign: [
    '/campaigns/{campaign}',
    '/campaigns/{campaign}/recipients?limit=50',
    '/campaigns/{campaign}/recipients?status=FAILED&limit=50',
    '/campaigns/{campaign}/recipients?outcome=OPENED&limit=50',
    '/campaigns/{campaign}/timeline?granularity=hour',
    '/campaigns/{campaign}/reasons',
    '/campaigns/{campaign}/domains',
    '/campaigns/{campaign}/links',
  ],
  emails: [
    '/emails?limit=50',
    '/emails?status=BOUNCED&limit=50',
    '/emails?status=DELIVERED&limit=50',
    // Of these there is none: all mails would have to be read to know it.
    ...['PENDING', 'SENDING', 'SENT', 'CANCELLED'].map((status) => `/emails?status=${status}&limit=50`),
    '/emails?campaignId={campaign}&limit=50',
  ],
  email: ['/emails/{email}', '/emails/{email}/content'],
  suppressions: [
    '/suppressions?limit=50',
    '/suppressions?search=needle&limit=50',
    '/suppressions?reason=COMPLAINT&limit=50',
  ],
  webhooks: ['/webhook-endpoints', '/webhook-endpoints/types'],
  webhook: [
    '/webhook-endpoints/{endpoint}',
    '/webhook-endpoints/{endpoint}/deliveries?limit=50',
    '/webhook-endpoints/{endpoint}/deliveries?status=FAILED&limit=50',
  ],
  'webhook delivery': ['/webhook-deliveries/{delivery}'],
  developers: ['/projects/{project}/keys', '/domains/project/{project}', '/requests?limit=50'],
  events: ['/events/names', '/events/stats', '/contacts/fields'],
  event: ['/events/login/usage', '/events?eventName=login&limit=20'],
  field: ['/contacts/fields/data.tag/usage', '/contacts/fields/data.tag/values'],
  jobs: ['/jobs?limit=50', '/jobs/{job}'],
  workflows: ['/workflows?page=1&pageSize=50', '/workflows/recipes', '/executions/problems'],
  workflow: [
    '/workflows/{workflow}',
    '/workflows/{workflow}/draft',
    '/workflows/{workflow}/stats',
    '/workflows/{workflow}/cases',
    '/workflows/{workflow}/versions',
    '/workflows/step-types',
    '/executions/problems?workflowId={workflow}',
  ],
  executions: [
    '/executions?limit=50',
    '/executions?status=FAILED&limit=50',
    '/executions?workflowId={workflow}&limit=50',
    '/executions/failures',
  ],
  execution: ['/workflows/{workflow}/executions/{execution}'],
  members: ['/projects/{project}/members'],
  project: ['/projects/{project}/security', '/projects/{project}/pages'],
  billing: [
    '/users/@me/projects/{project}/billing-consumption',
    '/users/@me/projects/{project}/billing-limits',
    '/users/@me/projects/{project}/billing-invoices',
  ],
  security: ['/users/@me/sessions', '/users/@me/audit?limit=20'],
  'audit log': ['/projects/{project}/audit?limit=50', '/projects/{project}/audit?action=key.created&limit=50'],
  'operator console': ['/operator/overview', '/operator/projects?limit=50'],
};

/** Paths that no page asks for when it opens, each with the reason. */
export const NOT_ON_OPENING: Record<string, string> = {
  '/campaigns/{id}/timing': 'when local time is chosen for sending',
  '/templates/{id}/versions/{version}': 'when the person reads what the API has changed',
  '/uploads': 'when the dialog of an image opens',
  '/workflows/{id}/versions/{version}': 'when a version is shown or restored',
  '/domains/{id}/verify': 'asks name servers, when a person presses the button',
};

const rare = { field: 'data.tag', operator: 'equals', value: 'rare' };

/** What pages ask for with a body. How long a preview counts depends on how many match: 100 on either side. */
export const POSTED_CALLS: Record<string, { path: string; body: object }> = {
  segment: { path: '/segments/preview', body: { condition: { logic: 'AND', groups: [{ filters: [rare] }] } } },
  template: { path: '/render', body: { subject: 'Hello', body: '<p>Hello {{ plan }}</p>', data: { plan: 'pro' } } },
};
