import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { developersSearch } from './search.ts';

const developers = createRoute({
  getParentRoute: () => project,
  path: '/developers',
  validateSearch: developersSearch,
  component: lazyRouteComponent(() => import('./developers.tsx'), 'DevelopersPage'),
});

export const developerRoutes = [developers] as const;
