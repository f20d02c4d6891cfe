import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { tabSearch } from '../../search-params.ts';

const projectSettings = createRoute({
  getParentRoute: () => project,
  path: '/project',
  validateSearch: tabSearch,
  component: lazyRouteComponent(() => import('./project.tsx'), 'ProjectPage'),
});

export const projectRoutes = [projectSettings] as const;
