import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { activitySearch } from './search.ts';

const activity = createRoute({
  getParentRoute: () => project,
  path: '/activity',
  validateSearch: activitySearch,
  component: lazyRouteComponent(() => import('./activity.tsx'), 'ActivityPage'),
});

export const activityRoutes = [activity] as const;
