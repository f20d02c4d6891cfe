import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { jobsSearch } from './search.ts';

const jobs = createRoute({
  getParentRoute: () => project,
  path: '/jobs',
  validateSearch: jobsSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'JobsPage'),
});

const job = createRoute({
  getParentRoute: () => project,
  path: '/jobs/$id',
  component: lazyRouteComponent(() => import('./job.tsx'), 'JobPage'),
});

export const jobRoutes = [jobs, job] as const;
