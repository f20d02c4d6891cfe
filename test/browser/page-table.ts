// Every route of the web application, and how the tests of `pages.ci.ts` visit it. A route without an entry fails.

export interface PageVisit {
  /** Nobody is signed in; otherwise a member of the sample shop is. */
  signedOut?: true;
  /** For each parameter of the route, a list of the API, which may contain earlier parameters, or a fixed value. */
  ids?: Record<string, string | { list: string; where: Record<string, unknown> } | { value: string }>;
  /** Query strings, one visit each; without any by default. */
  searches?: string[];
}

const tabs = (...names: string[]): string[] => names.map((name) => `?tab=${name}`);

/** Routes without parameters of their own are visited in an empty project too. */
export const PAGES: Record<string, PageVisit> = {
  '/sign-in': { signedOut: true },
  '/sign-up': { signedOut: true },
  '/forgot-password': { signedOut: true },
  '/verify-email': {},
  '/': {},
  '/new-project': {},
  '/operator': {},
  '/p/$projectId': {},
  '/p/$projectId/contacts': {},
  '/p/$projectId/contacts/import': {},
  '/p/$projectId/contacts/$id': {
    ids: { id: '/contacts?search=ada.abel' },
    searches: tabs('timeline', 'mails', 'segments', 'executions', 'consents'),
  },
  '/p/$projectId/segments': {},
  '/p/$projectId/segments/new': {},
  '/p/$projectId/segments/$id': {
    ids: { id: { list: '/segments', where: { type: 'DYNAMIC' } } },
    searches: tabs('conditions', 'members', 'usage'),
  },
  '/p/$projectId/topics': { searches: ['', '?tab=archived'] },
  '/p/$projectId/topics/new': {},
  '/p/$projectId/topics/$id': { ids: { id: '/topics' } },
  '/p/$projectId/forms': {},
  '/p/$projectId/forms/new': {},
  '/p/$projectId/forms/$id': {
    ids: { id: { list: '/forms', where: { name: 'Newsletter' } } },
    searches: ['', ...tabs('embed', 'submissions', 'stats'), '?tab=submissions&status=EXPIRED'],
  },
  '/p/$projectId/templates': {},
  '/p/$projectId/templates/new': {},
  '/p/$projectId/templates/$id': { ids: { id: '/templates' } },
  '/p/$projectId/campaigns': {},
  '/p/$projectId/campaigns/new': {},
  '/p/$projectId/campaigns/$id': {
    ids: { id: '/campaigns?status=SENT' },
    searches: [...tabs('recipients', 'domains', 'links', 'content'), '?tab=recipients&outcome=CLICKED'],
  },
  '/p/$projectId/campaigns/$id/edit': {
    ids: { id: '/campaigns?status=DRAFT' },
    searches: ['?step=0', '?step=1', '?step=2', '?step=3', '?step=4'],
  },
  '/p/$projectId/saved-blocks': {},
  '/p/$projectId/saved-blocks/new': {},
  '/p/$projectId/saved-blocks/$id': { ids: { id: '/saved-blocks' } },
  '/p/$projectId/brand': {},
  '/p/$projectId/emails': {},
  '/p/$projectId/emails/$id': { ids: { id: '/emails' } },
  '/p/$projectId/domains': {},
  '/p/$projectId/activity': {},
  '/p/$projectId/analytics': {},
  '/p/$projectId/notifications': {},
  '/p/$projectId/suppressions': {},
  '/p/$projectId/webhooks': {},
  '/p/$projectId/webhooks/$id': { ids: { id: '/webhook-endpoints' } },
  '/p/$projectId/webhooks/$id/deliveries/$deliveryId': {
    ids: { id: '/webhook-endpoints', deliveryId: '/webhook-endpoints/$id/deliveries' },
  },
  '/p/$projectId/developers': {
    searches: [...tabs('keys', 'examples', 'policy', 'requests'), '?tab=requests&successful=true'],
  },
  '/p/$projectId/events': { searches: tabs('events', 'fields') },
  '/p/$projectId/events/$name': { ids: { name: { value: 'signed up' } } },
  '/p/$projectId/fields/$name': { ids: { name: { value: 'plan' } } },
  '/p/$projectId/jobs': {},
  '/p/$projectId/jobs/$id': { ids: { id: '/jobs' } },
  '/p/$projectId/workflows': {},
  '/p/$projectId/workflows/$id': { ids: { id: '/workflows' }, searches: tabs('canvas', 'cases', 'versions') },
  '/p/$projectId/workflows/$id/play': { ids: { id: '/workflows' } },
  '/p/$projectId/executions': {},
  '/p/$projectId/workflows/$id/executions/$executionId': {
    ids: { id: '/workflows', executionId: '/workflows/$id/executions' },
    searches: ['', '?tab=play'],
  },
  '/p/$projectId/members': {},
  '/p/$projectId/project': { searches: tabs('general', 'pages') },
  '/p/$projectId/billing': {},
  '/p/$projectId/security': {},
  '/p/$projectId/audit': {},
  '/p/$projectId/operator': {},
};

type ReadList = (path: string) => Promise<({ id: string } & Record<string, unknown>)[]>;

/** Returns the addresses of a route in the sample shop. A parameter is the id of the first item that matches. */
export async function addressesOf(route: string, projectId: string, read: ReadList): Promise<string[]> {
  const { ids = {}, searches = [''] } = PAGES[route] ?? {};
  const values: Record<string, string> = { projectId };
  for (const [name, source] of Object.entries(ids)) {
    if (typeof source === 'object' && 'value' in source) {
      values[name] = encodeURIComponent(source.value);
      continue;
    }
    const { list, where } = typeof source === 'string' ? { list: source, where: {} } : source;
    const items = await read(withValues(list, values));
    const first = items.find((item) => Object.entries(where).every(([key, value]) => item[key] === value));
    if (!first) throw new Error(`${list} has nothing to visit ${route} with`);
    values[name] = first.id;
  }
  return searches.map((search) => `/app${withValues(route, values)}${search}`);
}

/** Returns the address of the route in a project without anything, where it has one. */
export const emptyAddressOf = (route: string, projectId: string): string | undefined => {
  const address = withValues(route, { projectId });
  return route.includes('$projectId') && !address.includes('$') ? `/app${address}` : undefined;
};

const withValues = (path: string, values: Record<string, string>): string =>
  path.replace(/\$(\w+)/g, (whole, name: string) => values[name] ?? whole);
