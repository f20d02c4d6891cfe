import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { suppressionsSearch } from './search.ts';

const suppressions = createRoute({
  getParentRoute: () => project,
  path: '/suppressions',
  validateSearch: suppressionsSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'SuppressionsPage'),
});

export const suppressionRoutes = [suppressions] as const;
