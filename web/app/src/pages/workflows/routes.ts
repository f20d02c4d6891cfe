import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { executionSearch, executionsSearch, playSearch, workflowSearch, workflowsSearch } from './search.ts';

const workflows = createRoute({
  getParentRoute: () => project,
  path: '/workflows',
  validateSearch: workflowsSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'WorkflowsPage'),
});

const workflow = createRoute({
  getParentRoute: () => project,
  path: '/workflows/$id',
  validateSearch: workflowSearch,
  component: lazyRouteComponent(() => import('./workflow.tsx'), 'WorkflowPage'),
});

const play = createRoute({
  getParentRoute: () => project,
  path: '/workflows/$id/play',
  validateSearch: playSearch,
  component: lazyRouteComponent(() => import('./play/play-page.tsx'), 'PlayPage'),
});

const executions = createRoute({
  getParentRoute: () => project,
  path: '/executions',
  validateSearch: executionsSearch,
  component: lazyRouteComponent(() => import('./executions.tsx'), 'ExecutionsPage'),
});

const execution = createRoute({
  getParentRoute: () => project,
  path: '/workflows/$id/executions/$executionId',
  validateSearch: executionSearch,
  component: lazyRouteComponent(() => import('./execution.tsx'), 'ExecutionPage'),
});

export const workflowRoutes = [workflows, workflow, play, executions, execution] as const;
