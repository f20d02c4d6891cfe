import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute, signedIn } from '../../parent-routes.ts';
import type { RawSearch } from '../../search-params.ts';

/** Only a path of this application: a sign-in must not lead to another site. */
const pathOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?![/\\])/.test(value) ? value : undefined;

/** Names `next` even if it is refused: the router keeps what a page does not name as it is in the address. */
const nextSearch = (raw: RawSearch): { next?: string | undefined } => ({ next: pathOf(raw.next) });

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: nextSearch,
  component: lazyRouteComponent(() => import('./pages.tsx'), 'SignInPage'),
});

const signUp = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: nextSearch,
  component: lazyRouteComponent(() => import('./pages.tsx'), 'SignUpPage'),
});

const forgotPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages.tsx'), 'ForgotPasswordPage'),
});

const verifyFirst = createRoute({
  getParentRoute: () => rootRoute,
  path: '/verify-email',
  component: lazyRouteComponent(() => import('./pages.tsx'), 'VerifyFirstPage'),
});

export const newProject = createRoute({
  getParentRoute: () => signedIn,
  path: '/new-project',
  component: lazyRouteComponent(() => import('./new-project.tsx'), 'NewProjectPage'),
});

export const accountRoutes = [signIn, signUp, forgotPassword, verifyFirst] as const;
