import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';

const savedBlocks = createRoute({
  getParentRoute: () => project,
  path: '/saved-blocks',
  component: lazyRouteComponent(() => import('./list.tsx'), 'SavedBlocksPage'),
});

const newSavedBlock = createRoute({
  getParentRoute: () => project,
  path: '/saved-blocks/new',
  component: lazyRouteComponent(() => import('./edit.tsx'), 'NewSavedBlockPage'),
});

const savedBlock = createRoute({
  getParentRoute: () => project,
  path: '/saved-blocks/$id',
  component: lazyRouteComponent(() => import('./edit.tsx'), 'SavedBlockPage'),
});

export const savedBlockRoutes = [savedBlocks, newSavedBlock, savedBlock] as const;
