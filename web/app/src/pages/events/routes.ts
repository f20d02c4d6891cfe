import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { eventsSearch } from './search.ts';

const events = createRoute({
  getParentRoute: () => project,
  path: '/events',
  validateSearch: eventsSearch,
  component: lazyRouteComponent(() => import('./events.tsx'), 'EventsPage'),
});

const event = createRoute({
  getParentRoute: () => project,
  path: '/events/$name',
  component: lazyRouteComponent(() => import('./event.tsx'), 'EventPage'),
});

const field = createRoute({
  getParentRoute: () => project,
  path: '/fields/$name',
  component: lazyRouteComponent(() => import('./field.tsx'), 'FieldPage'),
});

export const eventRoutes = [events, event, field] as const;
