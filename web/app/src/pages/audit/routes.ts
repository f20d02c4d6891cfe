import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { auditSearch } from './search.ts';

const audit = createRoute({
  getParentRoute: () => project,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./audit.tsx'), 'AuditPage'),
});

export const auditRoutes = [audit] as const;
