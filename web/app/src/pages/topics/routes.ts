import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { tabSearch } from '../../search-params.ts';

const topics = createRoute({
  getParentRoute: () => project,
  path: '/topics',
  validateSearch: tabSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'TopicsPage'),
});

const newTopic = createRoute({
  getParentRoute: () => project,
  path: '/topics/new',
  component: lazyRouteComponent(() => import('./edit.tsx'), 'NewTopicPage'),
});

const topic = createRoute({
  getParentRoute: () => project,
  path: '/topics/$id',
  component: lazyRouteComponent(() => import('./edit.tsx'), 'TopicPage'),
});

export const topicRoutes = [topics, newTopic, topic] as const;
