import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { accountApi, unwrap } from './api/client.ts';
import { projectsQuery } from './api/hooks.ts';
import { ApiProblem } from './api/problem.ts';
import { CrashPage, NotFoundPage } from './frame/error-pages.tsx';
import { Shell } from './frame/shell.tsx';
import { onSessionEnd, queryClient, session } from './query-client.ts';
import * as search from './search.ts';
import { Placeholder } from './ui/page.tsx';

const rootRoute = createRootRouteWithContext()({
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
      await Promise.all([
        queryClient.ensureQueryData(projectsQuery),
        queryClient.ensureQueryData({ queryKey: ['me'], queryFn: () => unwrap(accountApi.GET('/users/@me')) }),
      ]);
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
    if (!project) throw redirect({ to: '/new-project' });
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
  validateSearch: search.step,
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

const routeTree = rootRoute.addChildren([
  signIn,
  signUp,
  forgotPassword,
  verifyFirst,
  signedIn.addChildren([
    start,
    newProject,
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
