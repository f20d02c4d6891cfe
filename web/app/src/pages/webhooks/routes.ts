import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { addSearch } from '../../search-params.ts';
import { webhookSearch } from './search.ts';

const webhooks = createRoute({
  getParentRoute: () => project,
  path: '/webhooks',
  validateSearch: addSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => project,
  path: '/webhooks/$id',
  validateSearch: webhookSearch,
  component: lazyRouteComponent(() => import('./endpoint.tsx'), 'WebhookPage'),
});

const delivery = createRoute({
  getParentRoute: () => project,
  path: '/webhooks/$id/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./delivery.tsx'), 'DeliveryPage'),
});

export const webhookRoutes = [webhooks, webhook, delivery] as const;
