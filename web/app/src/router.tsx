import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { meQuery, projectsQuery } from './api/hooks.ts';
import { ApiProblem } from './api/problem.ts';
import { CrashPage, NotFoundPage } from './frame/error-pages.tsx';
import { Shell } from './frame/shell.tsx';
import { onSessionEnd, queryClient, session } from './query-client.ts';
import * as search from './search.ts';
import { textsOf } from './texts/index.ts';
import { followAccount } from './texts/language.ts';
import { Placeholder } from './ui/page.tsx';

const rootRoute = createRootRouteWithContext()({
  beforeLoad: ({ location }) => textsOf(location.pathname),
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

const account = lazyRouteComponent(() => import('./pages/account/pages.tsx'), 'SignInPage');

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: search.signIn,
  component: account,
});
const signUp = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: search.signIn,
  component: lazyRouteComponent(() => import('./pages/account/pages.tsx'), 'SignUpPage'),
});
const forgotPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages/account/pages.tsx'), 'ForgotPasswordPage'),
});
const verifyFirst = createRoute({
  getParentRoute: () => rootRoute,
  path: '/verify-email',
  component: lazyRouteComponent(() => import('./pages/account/pages.tsx'), 'VerifyFirstPage'),
});

/** Everything that needs a session. */
const signedIn = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: async ({ location }) => {
    if (session.absent) throw redirect({ to: '/sign-in', search: { next: location.href } });
    try {
      const [me] = await Promise.all([
        queryClient.ensureQueryData(meQuery),
        queryClient.ensureQueryData(projectsQuery),
      ]);
      // Never resolves: the page is about to go.
      if (followAccount(me.language)) await new Promise(() => {});
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (error.code === 'EMAIL_VERIFICATION_REQUIRED') throw redirect({ to: '/verify-email' });
      if (error.status === 401) throw redirect({ to: '/sign-in', search: { next: location.href } });
      throw error;
    }
  },
});

const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async () => {
    const projects = await queryClient.ensureQueryData(projectsQuery);
    const last = localStorage.getItem('everpost.project');
    const project = projects.find(({ id }) => id === last) ?? projects[0];
    if (!project) {
      const { operator } = await queryClient.ensureQueryData(meQuery);
      throw redirect({ to: operator ? '/operator' : '/new-project' });
    }
    throw redirect({ to: '/p/$projectId', params: { projectId: project.id } });
  },
});
const newProject = createRoute({
  getParentRoute: () => signedIn,
  path: '/new-project',
  component: lazyRouteComponent(() => import('./pages/account/new-project.tsx'), 'NewProjectPage'),
});

const project = createRoute({ getParentRoute: () => signedIn, path: '/p/$projectId', component: Shell });

const home = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/home.tsx'), 'HomePage'),
});
const activity = createRoute({
  getParentRoute: () => project,
  path: '/activity',
  validateSearch: search.activity,
  component: lazyRouteComponent(() => import('./pages/activity/activity.tsx'), 'ActivityPage'),
});
const analytics = createRoute({
  getParentRoute: () => project,
  path: '/analytics',
  validateSearch: search.analytics,
  component: lazyRouteComponent(() => import('./pages/analytics/analytics.tsx'), 'AnalyticsPage'),
});
const notifications = createRoute({
  getParentRoute: () => project,
  path: '/notifications',
  component: lazyRouteComponent(() => import('./pages/notifications/notifications.tsx'), 'NotificationsPage'),
});
const contacts = createRoute({
  getParentRoute: () => project,
  path: '/contacts',
  validateSearch: search.contacts,
  component: lazyRouteComponent(() => import('./pages/contacts/list.tsx'), 'ContactsPage'),
});
const importContacts = createRoute({
  getParentRoute: () => project,
  path: '/contacts/import',
  validateSearch: search.importJob,
  component: lazyRouteComponent(() => import('./pages/contacts/import.tsx'), 'ImportPage'),
});
const contact = createRoute({
  getParentRoute: () => project,
  path: '/contacts/$id',
  validateSearch: search.tab,
  component: lazyRouteComponent(() => import('./pages/contacts/contact.tsx'), 'ContactPage'),
});
const segments = createRoute({
  getParentRoute: () => project,
  path: '/segments',
  validateSearch: search.text,
  component: lazyRouteComponent(() => import('./pages/segments/list.tsx'), 'SegmentsPage'),
});
const newSegment = createRoute({
  getParentRoute: () => project,
  path: '/segments/new',
  component: lazyRouteComponent(() => import('./pages/segments/edit.tsx'), 'NewSegmentPage'),
});
const segment = createRoute({
  getParentRoute: () => project,
  path: '/segments/$id',
  validateSearch: search.tab,
  component: lazyRouteComponent(() => import('./pages/segments/edit.tsx'), 'SegmentPage'),
});
const templates = createRoute({
  getParentRoute: () => project,
  path: '/templates',
  validateSearch: search.templates,
  component: lazyRouteComponent(() => import('./pages/templates/list.tsx'), 'TemplatesPage'),
});
const newTemplate = createRoute({
  getParentRoute: () => project,
  path: '/templates/new',
  component: lazyRouteComponent(() => import('./pages/templates/edit.tsx'), 'NewTemplatePage'),
});
const template = createRoute({
  getParentRoute: () => project,
  path: '/templates/$id',
  component: lazyRouteComponent(() => import('./pages/templates/edit.tsx'), 'TemplatePage'),
});
const campaigns = createRoute({
  getParentRoute: () => project,
  path: '/campaigns',
  validateSearch: search.campaigns,
  component: lazyRouteComponent(() => import('./pages/campaigns/list.tsx'), 'CampaignsPage'),
});
const newCampaign = createRoute({
  getParentRoute: () => project,
  path: '/campaigns/new',
  validateSearch: search.newCampaign,
  component: lazyRouteComponent(() => import('./pages/campaigns/composer.tsx'), 'NewCampaignPage'),
});
const campaign = createRoute({
  getParentRoute: () => project,
  path: '/campaigns/$id',
  validateSearch: search.campaign,
  component: lazyRouteComponent(() => import('./pages/campaigns/live.tsx'), 'CampaignPage'),
});
const editCampaign = createRoute({
  getParentRoute: () => project,
  path: '/campaigns/$id/edit',
  validateSearch: search.composer,
  component: lazyRouteComponent(() => import('./pages/campaigns/composer.tsx'), 'EditCampaignPage'),
});
const emails = createRoute({
  getParentRoute: () => project,
  path: '/emails',
  validateSearch: search.emails,
  component: lazyRouteComponent(() => import('./pages/emails/list.tsx'), 'EmailsPage'),
});
const email = createRoute({
  getParentRoute: () => project,
  path: '/emails/$id',
  component: lazyRouteComponent(() => import('./pages/emails/email.tsx'), 'EmailPage'),
});
const domains = createRoute({
  getParentRoute: () => project,
  path: '/domains',
  component: lazyRouteComponent(() => import('./pages/domains/list.tsx'), 'DomainsPage'),
});
const workflows = createRoute({
  getParentRoute: () => project,
  path: '/workflows',
  validateSearch: search.workflows,
  component: lazyRouteComponent(() => import('./pages/workflows/list.tsx'), 'WorkflowsPage'),
});
const workflow = createRoute({
  getParentRoute: () => project,
  path: '/workflows/$id',
  validateSearch: search.tab,
  component: lazyRouteComponent(() => import('./pages/workflows/workflow.tsx'), 'WorkflowPage'),
});
const play = createRoute({
  getParentRoute: () => project,
  path: '/workflows/$id/play',
  validateSearch: search.play,
  component: lazyRouteComponent(() => import('./pages/workflows/play/play-page.tsx'), 'PlayPage'),
});
const executions = createRoute({
  getParentRoute: () => project,
  path: '/executions',
  validateSearch: search.executions,
  component: lazyRouteComponent(() => import('./pages/workflows/executions.tsx'), 'ExecutionsPage'),
});
const execution = createRoute({
  getParentRoute: () => project,
  path: '/workflows/$id/executions/$executionId',
  validateSearch: search.execution,
  component: lazyRouteComponent(() => import('./pages/workflows/execution.tsx'), 'ExecutionPage'),
});
const members = createRoute({
  getParentRoute: () => project,
  path: '/members',
  validateSearch: search.members,
  component: lazyRouteComponent(() => import('./pages/members/members.tsx'), 'MembersPage'),
});
const projectSettings = createRoute({
  getParentRoute: () => project,
  path: '/project',
  component: lazyRouteComponent(() => import('./pages/project/project.tsx'), 'ProjectPage'),
});
const billing = createRoute({
  getParentRoute: () => project,
  path: '/billing',
  component: lazyRouteComponent(() => import('./pages/billing/billing.tsx'), 'BillingPage'),
});
const security = createRoute({
  getParentRoute: () => project,
  path: '/security',
  component: lazyRouteComponent(() => import('./pages/security/security.tsx'), 'SecurityPage'),
});
const audit = createRoute({
  getParentRoute: () => project,
  path: '/audit',
  validateSearch: search.audit,
  component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
});
/** The console without a project: an operator need not be a member of any. */
const installation = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator',
  validateSearch: search.text,
  component: lazyRouteComponent(() => import('./pages/operator/installation.tsx'), 'InstallationPage'),
});
const operator = createRoute({
  getParentRoute: () => project,
  path: '/operator',
  validateSearch: search.text,
  component: lazyRouteComponent(() => import('./pages/operator/operator.tsx'), 'OperatorPage'),
});
const suppressions = createRoute({
  getParentRoute: () => project,
  path: '/suppressions',
  validateSearch: search.suppressions,
  component: lazyRouteComponent(() => import('./pages/suppressions/list.tsx'), 'SuppressionsPage'),
});
const webhooks = createRoute({
  getParentRoute: () => project,
  path: '/webhooks',
  validateSearch: search.adding,
  component: lazyRouteComponent(() => import('./pages/webhooks/list.tsx'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => project,
  path: '/webhooks/$id',
  validateSearch: search.deliveries,
  component: lazyRouteComponent(() => import('./pages/webhooks/endpoint.tsx'), 'WebhookPage'),
});
const delivery = createRoute({
  getParentRoute: () => project,
  path: '/webhooks/$id/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./pages/webhooks/delivery.tsx'), 'DeliveryPage'),
});
const developers = createRoute({
  getParentRoute: () => project,
  path: '/developers',
  validateSearch: search.developers,
  component: lazyRouteComponent(() => import('./pages/developers/developers.tsx'), 'DevelopersPage'),
});
const events = createRoute({
  getParentRoute: () => project,
  path: '/events',
  validateSearch: search.events,
  component: lazyRouteComponent(() => import('./pages/events/events.tsx'), 'EventsPage'),
});
const event = createRoute({
  getParentRoute: () => project,
  path: '/events/$name',
  component: lazyRouteComponent(() => import('./pages/events/event.tsx'), 'EventPage'),
});
const field = createRoute({
  getParentRoute: () => project,
  path: '/fields/$name',
  component: lazyRouteComponent(() => import('./pages/events/field.tsx'), 'FieldPage'),
});
const jobs = createRoute({
  getParentRoute: () => project,
  path: '/jobs',
  validateSearch: search.jobs,
  component: lazyRouteComponent(() => import('./pages/jobs/list.tsx'), 'JobsPage'),
});
const job = createRoute({
  getParentRoute: () => project,
  path: '/jobs/$id',
  component: lazyRouteComponent(() => import('./pages/jobs/job.tsx'), 'JobPage'),
});

const routeTree = rootRoute.addChildren([
  signIn,
  signUp,
  forgotPassword,
  verifyFirst,
  signedIn.addChildren([
    start,
    newProject,
    installation,
    project.addChildren([
      home,
      activity,
      analytics,
      notifications,
      contacts,
      importContacts,
      contact,
      segments,
      newSegment,
      segment,
      templates,
      newTemplate,
      template,
      campaigns,
      newCampaign,
      campaign,
      editCampaign,
      emails,
      email,
      domains,
      workflows,
      workflow,
      play,
      executions,
      execution,
      members,
      projectSettings,
      billing,
      security,
      audit,
      operator,
      suppressions,
      webhooks,
      webhook,
      delivery,
      developers,
      events,
      event,
      field,
      jobs,
      job,
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/app',
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Placeholder lines={6} />,
  defaultErrorComponent: CrashPage,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
});

onSessionEnd.call = () => {
  const { pathname, href } = router.state.location;
  if (['/sign-in', '/sign-up', '/forgot-password'].includes(pathname)) return;
  queryClient.clear();
  void router.navigate({ to: '/sign-in', search: { next: href } });
};

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
