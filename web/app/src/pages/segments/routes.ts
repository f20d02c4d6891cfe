import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { tabSearch, textSearch } from '../../search-params.ts';

const segments = createRoute({
  getParentRoute: () => project,
  path: '/segments',
  validateSearch: textSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'SegmentsPage'),
});

const newSegment = createRoute({
  getParentRoute: () => project,
  path: '/segments/new',
  component: lazyRouteComponent(() => import('./edit.tsx'), 'NewSegmentPage'),
});

const segment = createRoute({
  getParentRoute: () => project,
  path: '/segments/$id',
  validateSearch: tabSearch,
  component: lazyRouteComponent(() => import('./edit.tsx'), 'SegmentPage'),
});

export const segmentRoutes = [segments, newSegment, segment] as const;
