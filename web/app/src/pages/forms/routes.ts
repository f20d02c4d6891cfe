import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { formSearch } from './search.ts';

const forms = createRoute({
  getParentRoute: () => project,
  path: '/forms',
  component: lazyRouteComponent(() => import('./list.tsx'), 'FormsPage'),
});

const newForm = createRoute({
  getParentRoute: () => project,
  path: '/forms/new',
  component: lazyRouteComponent(() => import('./new.tsx'), 'NewFormPage'),
});

const form = createRoute({
  getParentRoute: () => project,
  path: '/forms/$id',
  validateSearch: formSearch,
  component: lazyRouteComponent(() => import('./form.tsx'), 'FormPage'),
});

export const formRoutes = [forms, newForm, form] as const;
