import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { meQuery, projectsQuery } from '../../api/hooks.ts';
import { project, signedIn } from '../../parent-routes.ts';
import { queryClient } from '../../query-client.ts';

const home = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyRouteComponent(() => import('./home.tsx'), 'HomePage'),
});

/** Leads to the last project, or to the first step of a user without one. */
export const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async () => {
    const projects = await queryClient.ensureQueryData(projectsQuery);
    const last = localStorage.getItem('everpost.project');
    const chosen = projects.find(({ id }) => id === last) ?? projects[0];
    if (!chosen) {
      const { operator } = await queryClient.ensureQueryData(meQuery);
      throw redirect({ to: operator ? '/operator' : '/new-project' });
    }
    throw redirect({ to: '/p/$projectId', params: { projectId: chosen.id } });
  },
});

export const homeRoutes = [home] as const;
