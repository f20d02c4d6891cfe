import { readSettings } from '../../platform/settings.ts';
import type { AppParts } from '../http/context.ts';
import type { OpenApiDocument } from '../http/openapi-shared.ts';
import type { RouteGroup } from '../http/route.ts';
import { accountPages } from './account-pages.ts';
import { activity } from './activity.ts';
import { analytics } from './analytics.ts';
import { audit } from './audit.ts';
import { auth } from './auth.ts';
import { billing } from './billing.ts';
import { brandKit } from './brand-kit.ts';
import { campaignChecks } from './campaign-checks.ts';
import { campaignClickMap } from './campaign-click-map.ts';
import { campaignFollowUps } from './campaign-follow-ups.ts';
import { campaignResults } from './campaign-results.ts';
import { campaignSending } from './campaign-sending.ts';
import { campaigns } from './campaigns.ts';
import { config } from './config.ts';
import { confirmations } from './confirmations.ts';
import { consents } from './consents.ts';
import { contactFields } from './contact-fields.ts';
import { contactJobs } from './contact-jobs.ts';
import { contactReading } from './contact-reading.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { events } from './events.ts';
import { executions } from './executions.ts';
import { formDoor } from './form-door.ts';
import { formSubmissions } from './form-submissions.ts';
import { forms } from './forms.ts';
import { jobs } from './jobs.ts';
import { keys } from './keys.ts';
import { live } from './live.ts';
import { loginLink } from './login-link.ts';
import { members } from './members.ts';
import { notifications } from './notifications.ts';
import { oauth } from './oauth.ts';
import { operations } from './operations.ts';
import { operators } from './operators.ts';
import { pageSettings } from './page-settings.ts';
import { pages } from './pages.ts';
import { preferences } from './preferences.ts';
import { previews } from './previews.ts';
import { projects } from './projects.ts';
import { requests } from './requests.ts';
import { savedBlocks } from './saved-blocks.ts';
import { security } from './security.ts';
import { segments } from './segments.ts';
import { send } from './send.ts';
import { snsWebhook } from './sns-webhook.ts';
import { subscribe } from './subscribe.ts';
import { suppressions } from './suppressions.ts';
import { templateDrafts } from './template-drafts.ts';
import { templates } from './templates.ts';
import { topics } from './topics.ts';
import { track } from './track.ts';
import { tracking } from './tracking.ts';
import { twoFactor } from './two-factor.ts';
import { uploads } from './uploads.ts';
import { users } from './users.ts';
import { verify } from './verify.ts';
import { views } from './views.ts';
import { webhookDeliveries } from './webhook-deliveries.ts';
import { webhookEndpoints } from './webhook-endpoints.ts';
import { webhookListen } from './webhook-listen.ts';
import { webhookSecrets } from './webhook-secret.ts';
import { workflowCases } from './workflow-cases.ts';
import { workflowDrafts } from './workflow-drafts.ts';
import { workflowRecipes } from './workflow-recipes.ts';
import { workflowSimulation } from './workflow-simulation.ts';
import { workflowStats } from './workflow-stats.ts';
import { workflowSteps } from './workflow-steps.ts';
import { workflows } from './workflows.ts';

/** All routes. `document` returns the OpenAPI document. */
export const routeGroups = (parts: AppParts, document: () => OpenApiDocument): RouteGroup[] => [
  send,
  emails(parts),
  previews(parts),
  track,
  events,
  activity,
  analytics,
  notifications,
  contacts,
  contactFields,
  contactJobs(parts),
  contactReading,
  topics,
  forms,
  formSubmissions,
  formDoor,
  subscribe,
  consents,
  jobs,
  live(parts),
  requests,
  templates,
  templateDrafts,
  brandKit,
  savedBlocks,
  campaigns,
  campaignSending,
  campaignFollowUps,
  campaignResults,
  campaignClickMap(parts),
  campaignChecks(parts),
  segments,
  views,
  verify(parts),
  domains(parts),
  suppressions,
  snsWebhook(),
  auth,
  loginLink(parts),
  oauth(parts),
  users,
  twoFactor,
  projects,
  keys,
  audit,
  members,
  security,
  billing(parts),
  config,
  operators(parts),
  uploads(parts),
  webhookSecrets,
  webhookListen(parts),
  webhookEndpoints,
  webhookDeliveries,
  workflowStats,
  workflowRecipes,
  workflows,
  workflowSteps,
  workflowDrafts(parts),
  workflowCases(parts),
  executions,
  workflowSimulation(parts),
  pages,
  confirmations,
  pageSettings,
  preferences,
  tracking(parts),
  accountPages,
  operations(parts, document),
];

/** The declarations of all routes, whatever the settings, for the OpenAPI document. Their handlers cannot be called. */
export function declaredRoutes(): RouteGroup[] {
  const parts = { metrics: { registry: {} }, settings: readSettings({}) } as unknown as AppParts;
  return routeGroups(parts, () => ({ openapi: '', paths: {} }));
}
