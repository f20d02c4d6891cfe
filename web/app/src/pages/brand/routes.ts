import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';

const brand = createRoute({
  getParentRoute: () => project,
  path: '/brand',
  component: lazyRouteComponent(() => import('./brand.tsx'), 'BrandPage'),
});

export const brandRoutes = [brand] as const;
