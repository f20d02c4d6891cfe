import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';

const billing = createRoute({
  getParentRoute: () => project,
  path: '/billing',
  component: lazyRouteComponent(() => import('./billing.tsx'), 'BillingPage'),
});

export const billingRoutes = [billing] as const;
