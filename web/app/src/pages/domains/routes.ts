import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';

const domains = createRoute({
  getParentRoute: () => project,
  path: '/domains',
  component: lazyRouteComponent(() => import('./list.tsx'), 'DomainsPage'),
});

export const domainRoutes = [domains] as const;
