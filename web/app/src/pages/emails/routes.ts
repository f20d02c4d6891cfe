import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { emailsSearch } from './search.ts';

const emails = createRoute({
  getParentRoute: () => project,
  path: '/emails',
  validateSearch: emailsSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'EmailsPage'),
});

const email = createRoute({
  getParentRoute: () => project,
  path: '/emails/$id',
  component: lazyRouteComponent(() => import('./email.tsx'), 'EmailPage'),
});

export const emailRoutes = [emails, email] as const;
