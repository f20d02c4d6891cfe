import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';

const notifications = createRoute({
  getParentRoute: () => project,
  path: '/notifications',
  component: lazyRouteComponent(() => import('./notifications.tsx'), 'NotificationsPage'),
});

export const notificationRoutes = [notifications] as const;
