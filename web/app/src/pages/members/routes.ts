import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { compact, flagOf, type RawSearch } from '../../search-params.ts';

const members = createRoute({
  getParentRoute: () => project,
  path: '/members',
  validateSearch: (raw: RawSearch): { invite?: boolean | undefined } => compact({ invite: flagOf(raw.invite) }),
  component: lazyRouteComponent(() => import('./members.tsx'), 'MembersPage'),
});

export const memberRoutes = [members] as const;
