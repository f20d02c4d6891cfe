import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { project } from '../../parent-routes.ts';
import { campaignSearch, campaignsSearch, editCampaignSearch, newCampaignSearch } from './search.ts';

const campaigns = createRoute({
  getParentRoute: () => project,
  path: '/campaigns',
  validateSearch: campaignsSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'CampaignsPage'),
});

const newCampaign = createRoute({
  getParentRoute: () => project,
  path: '/campaigns/new',
  validateSearch: newCampaignSearch,
  component: lazyRouteComponent(() => import('./composer.tsx'), 'NewCampaignPage'),
});

const campaign = createRoute({
  getParentRoute: () => project,
  path: '/campaigns/$id',
  validateSearch: campaignSearch,
  component: lazyRouteComponent(() => import('./live.tsx'), 'CampaignPage'),
});

const editCampaign = createRoute({
  getParentRoute: () => project,
  path: '/campaigns/$id/edit',
  validateSearch: editCampaignSearch,
  component: lazyRouteComponent(() => import('./composer.tsx'), 'EditCampaignPage'),
});

export const campaignRoutes = [campaigns, newCampaign, campaign, editCampaign] as const;
