import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project, signedIn } from '../../parent-routes.ts';
import { textSearch } from '../../search-params.ts';

const operator = createRoute({
  getParentRoute: () => project,
  path: '/operator',
  validateSearch: textSearch,
  component: lazyRouteComponent(() => import('./operator.tsx'), 'OperatorPage'),
});

/** The console without a project: an operator need not be a member of any. */
export const installation = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator',
  validateSearch: textSearch,
  component: lazyRouteComponent(() => import('./installation.tsx'), 'InstallationPage'),
});

export const operatorRoutes = [operator] as const;
