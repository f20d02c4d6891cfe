import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { templateSearch, templatesSearch } from './search.ts';

const templates = createRoute({
  getParentRoute: () => project,
  path: '/templates',
  validateSearch: templatesSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'TemplatesPage'),
});

const newTemplate = createRoute({
  getParentRoute: () => project,
  path: '/templates/new',
  component: lazyRouteComponent(() => import('./new.tsx'), 'NewTemplatePage'),
});

const template = createRoute({
  getParentRoute: () => project,
  path: '/templates/$id',
  validateSearch: templateSearch,
  component: lazyRouteComponent(() => import('./edit.tsx'), 'TemplatePage'),
});

export const templateRoutes = [templates, newTemplate, template] as const;
