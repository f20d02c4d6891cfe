// Shows campaigns as JSON, in answers of the API and in webhooks.
import { contentEditorOf } from '../mail-documents/content.ts';
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
  peopleOpenedCount: counts.peopleOpened,
  bouncedCount: counts.bounced,
  complainedCount: counts.complained,
  unsubscribedCount: counts.unsubscribed,
  topicUnsubscribedCount: counts.topicUnsubscribed,
});

export const presentCampaign = (view: CampaignView) => ({
  ...presentListedCampaign(view),
  document: view.campaign.document,
  ...view.chain,
});

/** In a list, without the document. */
export const presentListedCampaign = (view: CampaignView) => {
  const { campaign, secondsLeft, slowedDomains, pausedBy } = view;
  return {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description,
    subject: campaign.subject,
    body: campaign.body,
    editor: contentEditorOf(campaign),
    revision: campaign.revision,
    from: campaign.fromEmail,
    fromName: campaign.fromName,
    replyTo: campaign.replyTo,
    type: campaign.type,
    status: campaign.status,
    paused: campaign.paused,
    pauseReason: campaign.pauseReason,
    pausedBy,
    audienceType: campaign.audienceType,
    segmentId: campaign.segmentId,
    audienceCondition: campaign.audienceCondition,
    templateId: campaign.templateId,
    topicId: campaign.topicId,
    followUpOf: campaign.followUpOf,
    ratePerMinute: campaign.ratePerMinute,
    sendUntil: campaign.sendUntil?.toISOString() ?? null,
    localTime: campaign.localTime,
    late: campaign.late,
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
