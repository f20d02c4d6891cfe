import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';

const security = createRoute({
  getParentRoute: () => project,
  path: '/security',
  component: lazyRouteComponent(() => import('./security.tsx'), 'SecurityPage'),
});

export const securityRoutes = [security] as const;
