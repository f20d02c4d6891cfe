import type {
  Campaign,
  CampaignChecks,
  CampaignClickMap,
  CampaignLinkReport,
  CampaignRecipient,
  CampaignStats,
  CampaignTimeline,
  CampaignTiming,
  CheckCampaignRequest,
  CreateFollowUpRequest,
  QueuedJob,
  ResendRecipientsRequest,
  SaveCampaignRequest,
  SendCampaignRequest,
  SendTestEmailRequest,
  SendTestEmailResponse,
  UpdateCampaignRequest,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Email to an audience. */
export const campaigns = (client: RawClient) => ({
  /** Creates a draft. */
  create: async (campaign: SaveCampaignRequest, options?: CallOptions): Promise<Campaign> =>
    (await client.post('/campaigns', { ...options, body: campaign })).data,

  list: (query?: QueryOf<'/campaigns'>, options?: CallOptions): AsyncGenerator<Campaign, void> =>
    items(client, '/campaigns', { ...options, query }),

  get: (id: string, options?: CallOptions): Promise<Campaign> =>
    client.get('/campaigns/{id}', { ...options, path: { id } }),

  /** Replaces the content and the audience of a draft or a scheduled campaign. */
  update: (id: string, campaign: SaveCampaignRequest, options?: CallOptions): Promise<Campaign> =>
    client.put('/campaigns/{id}', { ...options, path: { id }, body: campaign }),

  /** Changes how many emails are sent per minute, also while the campaign is being sent; null removes the limit. */
  setRate: (id: string, ratePerMinute: number | null, options?: CallOptions): Promise<Campaign> =>
    client.patch('/campaigns/{id}', { ...options, path: { id }, body: { ratePerMinute } }),

  /** Changes the rate and the end of sending, also while the campaign is being sent. */
  changeSending: (id: string, changes: UpdateCampaignRequest, options?: CallOptions): Promise<Campaign> =>
    client.patch('/campaigns/{id}', { ...options, path: { id }, body: changes }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/campaigns/{id}', { ...options, path: { id } }),

  /** Sends a campaign now, at `scheduledFor`, or when clocks of each recipient show `localTime`. */
  send: (id: string, schedule: SendCampaignRequest = {}, options?: CallOptions): Promise<Campaign> =>
    client.post('/campaigns/{id}/send', { ...options, path: { id }, body: schedule }),

  /** Returns when recipients would get the campaign by local time. */
  timing: (id: string, localTime: string, options?: CallOptions): Promise<CampaignTiming> =>
    client.get('/campaigns/{id}/timing', { ...options, path: { id }, query: { localTime } }),

  /** Sends a test email. */
  test: (id: string, test: SendTestEmailRequest, options?: CallOptions): Promise<SendTestEmailResponse> =>
    client.post('/campaigns/{id}/test', { ...options, path: { id }, body: test }),

  /** Checks the content for the recipients of the campaign, and its links if asked for. */
  check: (id: string, checks: CheckCampaignRequest = {}, options?: CallOptions): Promise<CampaignChecks> =>
    client.post('/campaigns/{id}/checks', { ...options, path: { id }, body: checks }),

  pause: (id: string, options?: CallOptions): Promise<Campaign> =>
    client.post('/campaigns/{id}/pause', { ...options, path: { id } }),

  resume: (id: string, options?: CallOptions): Promise<Campaign> =>
    client.post('/campaigns/{id}/resume', { ...options, path: { id } }),

  /** Cancels a campaign; emails that are not sent yet never will be. */
  cancel: (id: string, options?: CallOptions): Promise<Campaign> =>
    client.post('/campaigns/{id}/cancel', { ...options, path: { id } }),

  /** Makes a scheduled campaign a draft again. */
  unschedule: (id: string, options?: CallOptions): Promise<Campaign> =>
    client.post('/campaigns/{id}/unschedule', { ...options, path: { id } }),

  /** Sends a campaign again to recipients whose email failed, as a job. */
  resendRecipients: (id: string, which: ResendRecipientsRequest, options?: CallOptions): Promise<QueuedJob> =>
    client.post('/campaigns/{id}/recipients/resend', { ...options, path: { id }, body: which }),

  /** Returns the results by hour or day. */
  timeline: (
    id: string,
    query?: QueryOf<'/campaigns/{id}/timeline'>,
    options?: CallOptions,
  ): Promise<CampaignTimeline> => client.get('/campaigns/{id}/timeline', { ...options, path: { id }, query }),

  /** Creates a campaign to some recipients of another one: a draft, or scheduled with `scheduledFor`. */
  followUp: (id: string, followUp: CreateFollowUpRequest, options?: CallOptions): Promise<Campaign> =>
    client.post('/campaigns/{id}/follow-up', { ...options, path: { id }, body: followUp }),

  /** Returns the clicks by their place in the email. */
  clickMap: (id: string, options?: CallOptions): Promise<CampaignClickMap> =>
    client.get('/campaigns/{id}/click-map', { ...options, path: { id } }),

  links: (id: string, query?: QueryOf<'/campaigns/{id}/links'>, options?: CallOptions): Promise<CampaignLinkReport> =>
    client.get('/campaigns/{id}/links', { ...options, path: { id }, query }),

  stats: (id: string, options?: CallOptions): Promise<CampaignStats> =>
    client.get('/campaigns/{id}/stats', { ...options, path: { id } }),

  recipients: (
    id: string,
    query?: QueryOf<'/campaigns/{id}/recipients'>,
    options?: CallOptions,
  ): AsyncGenerator<CampaignRecipient, void> =>
    items(client, '/campaigns/{id}/recipients', { ...options, path: { id }, query }),
});
