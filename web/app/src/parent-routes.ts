// The routes that pages are below. Each folder of `pages` declares its own routes in `routes.ts`.
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { meQuery, projectsQuery } from './api/hooks.ts';
import { ApiProblem } from './api/problem.ts';
import { NotFoundPage } from './frame/error-pages.tsx';
import { Shell } from './frame/shell.tsx';
import { queryClient, session } from './query-client.ts';
import { textsOf } from './texts/index.ts';
import { followAccount } from './texts/language.ts';

export const rootRoute = createRootRouteWithContext()({
  beforeLoad: ({ location }) => textsOf(location.pathname),
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

/** Everything that needs a session. */
export const signedIn = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: async ({ location }) => {
    if (session.absent) throw redirect({ to: '/sign-in', search: { next: location.href } });
    try {
      const [me] = await Promise.all([
        queryClient.ensureQueryData(meQuery),
        queryClient.ensureQueryData(projectsQuery),
      ]);
      // Never resolves: the page is about to go.
      if (followAccount(me.language)) await new Promise(() => {});
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (error.code === 'EMAIL_VERIFICATION_REQUIRED') throw redirect({ to: '/verify-email' });
      if (error.status === 401) throw redirect({ to: '/sign-in', search: { next: location.href } });
      throw error;
    }
  },
});

/** Pages of a project, inside the shell. */
export const project = createRoute({ getParentRoute: () => signedIn, path: '/p/$projectId', component: Shell });
