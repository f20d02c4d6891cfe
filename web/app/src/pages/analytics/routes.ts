import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { analyticsSearch } from './search.ts';

const analytics = createRoute({
  getParentRoute: () => project,
  path: '/analytics',
  validateSearch: analyticsSearch,
  component: lazyRouteComponent(() => import('./analytics.tsx'), 'AnalyticsPage'),
});

export const analyticsRoutes = [analytics] as const;
