// Shows campaigns as JSON, in answers of the API and in webhooks.
import type { CampaignView } from './view.ts';

export const presentCampaignCounts = ({ totalRecipients, counts }: CampaignView) => ({
  totalRecipients,
  pendingCount: counts.pending,
  sentCount: counts.sent,
  failedCount: counts.failed,
  skippedCount: counts.skipped,
  cancelledCount: counts.cancelled,
  unknownCount: counts.unknown,
  deliveredCount: counts.delivered,
  openedCount: counts.opened,
  clickedCount: counts.clicked,
  humanOpenedCount: counts.humanOpened,
  humanClickedCount: counts.humanClicked,
  bouncedCount: counts.bounced,
  complainedCount: counts.complained,
  unsubscribedCount: counts.unsubscribed,
});

export const presentCampaign = (view: CampaignView) => {
  const { campaign, secondsLeft, slowedDomains } = view;
  return {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description,
    subject: campaign.subject,
    body: campaign.body,
    from: campaign.fromEmail,
    fromName: campaign.fromName,
    replyTo: campaign.replyTo,
    type: campaign.type,
    status: campaign.status,
    paused: campaign.paused,
    pauseReason: campaign.pauseReason,
    audienceType: campaign.audienceType,
    segmentId: campaign.segmentId,
    audienceCondition: campaign.audienceCondition,
    templateId: campaign.templateId,
    ratePerMinute: campaign.ratePerMinute,
    scheduledFor: campaign.scheduledFor?.toISOString() ?? null,
    ...presentCampaignCounts(view),
    estimatedSecondsLeft: secondsLeft,
    slowedDomains,
    projectId: campaign.projectId,
    sentAt: campaign.sentAt?.toISOString() ?? null,
    createdAt: campaign.createdAt.toISOString(),
    updatedAt: campaign.updatedAt.toISOString(),
  };
};
