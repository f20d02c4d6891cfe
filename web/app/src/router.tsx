import { createRouter } from '@tanstack/react-router';
import { CrashPage, NotFoundPage } from './frame/error-pages.tsx';
import { accountRoutes, newProject } from './pages/account/routes.ts';
import { activityRoutes } from './pages/activity/routes.ts';
import { analyticsRoutes } from './pages/analytics/routes.ts';
import { auditRoutes } from './pages/audit/routes.ts';
import { billingRoutes } from './pages/billing/routes.ts';
import { brandRoutes } from './pages/brand/routes.ts';
import { campaignRoutes } from './pages/campaigns/routes.ts';
import { contactRoutes } from './pages/contacts/routes.ts';
import { developerRoutes } from './pages/developers/routes.ts';
import { domainRoutes } from './pages/domains/routes.ts';
import { emailRoutes } from './pages/emails/routes.ts';
import { eventRoutes } from './pages/events/routes.ts';
import { formRoutes } from './pages/forms/routes.ts';
import { homeRoutes, start } from './pages/home/routes.ts';
import { jobRoutes } from './pages/jobs/routes.ts';
import { memberRoutes } from './pages/members/routes.ts';
import { notificationRoutes } from './pages/notifications/routes.ts';
import { installation, operatorRoutes } from './pages/operator/routes.ts';
import { projectRoutes } from './pages/project/routes.ts';
import { savedBlockRoutes } from './pages/saved-blocks/routes.ts';
import { securityRoutes } from './pages/security/routes.ts';
import { segmentRoutes } from './pages/segments/routes.ts';
import { suppressionRoutes } from './pages/suppressions/routes.ts';
import { templateRoutes } from './pages/templates/routes.ts';
import { topicRoutes } from './pages/topics/routes.ts';
import { webhookRoutes } from './pages/webhooks/routes.ts';
import { workflowRoutes } from './pages/workflows/routes.ts';
import { project, rootRoute, signedIn } from './parent-routes.ts';
import { onSessionEnd, queryClient } from './query-client.ts';
import { Placeholder } from './ui/page.tsx';

const routeTree = rootRoute.addChildren([
  ...accountRoutes,
  signedIn.addChildren([
    start,
    newProject,
    installation,
    project.addChildren([
      ...homeRoutes,
      ...activityRoutes,
      ...analyticsRoutes,
      ...notificationRoutes,
      ...contactRoutes,
      ...segmentRoutes,
      ...topicRoutes,
      ...formRoutes,
      ...templateRoutes,
      ...savedBlockRoutes,
      ...brandRoutes,
      ...campaignRoutes,
      ...emailRoutes,
      ...domainRoutes,
      ...workflowRoutes,
      ...memberRoutes,
      ...projectRoutes,
      ...billingRoutes,
      ...securityRoutes,
      ...auditRoutes,
      ...operatorRoutes,
      ...suppressionRoutes,
      ...webhookRoutes,
      ...developerRoutes,
      ...eventRoutes,
      ...jobRoutes,
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
