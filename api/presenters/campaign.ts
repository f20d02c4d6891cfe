import { presentCampaignCounts } from '../../services/campaigns/present.ts';
import { type Recipient, recipientStates } from '../../services/campaigns/recipients.ts';
import { audienceTypes, campaignStatuses, templateTypes } from '../../services/campaigns/save.ts';
import type { CampaignView } from '../../services/campaigns/view.ts';
import {
  dateTime,
  email,
  flag,
  fraction,
  list,
  nullable,
  object,
  oneOf,
  rate,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { conditionTree } from './segment.ts';

export { presentCampaign } from '../../services/campaigns/present.ts';

const count = () => wholeNumber({ min: 0 });

/** The first six cover all recipients; the others count results of sent mail, once per mail. */
const countShape = {
  totalRecipients: count(),
  pendingCount: count(),
  sentCount: count(),
  failedCount: count(),
  skippedCount: count(),
  cancelledCount: count(),
  unknownCount: count(),
  deliveredCount: count(),
  openedCount: count(),
  clickedCount: count(),
  /** By people; the two before include machines. */
  humanOpenedCount: count(),
  humanClickedCount: count(),
  bouncedCount: count(),
  complainedCount: count(),
  unsubscribedCount: count(),
};

export const campaignSchema = object({
  id: uuid(),
  name: text(),
  description: nullable(text({ min: 0 })),
  subject: text(),
  body: text(),
  from: email(),
  fromName: nullable(text({ min: 0 })),
  replyTo: nullable(email()),
  type: oneOf(...templateTypes),
  status: oneOf(...campaignStatuses),
  paused: flag(),
  pauseReason: nullable(text()),
  audienceType: oneOf(...audienceTypes),
  segmentId: nullable(uuid()),
  audienceCondition: conditionTree(),
  templateId: nullable(uuid()),
  ratePerMinute: nullable(wholeNumber({ min: 1 })),
  scheduledFor: nullable(dateTime()),
  ...countShape,
  estimatedSecondsLeft: nullable(count()),
  slowedDomains: list(object({ domain: text(), perSecond: rate() })),
  projectId: uuid(),
  sentAt: nullable(dateTime()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
});

export const campaignStatsShape = {
  ...countShape,
  openRate: fraction(),
  clickRate: fraction(),
  humanOpenRate: fraction(),
  humanClickRate: fraction(),
  bounceRate: fraction(),
  deliveryRate: fraction(),
};
export const campaignStatsSchema = object(campaignStatsShape);

/** Rates relative to sent mail, that of bounces to sent and refused mail. */
export const presentCampaignStats = (view: CampaignView) => {
  const { counts } = view;
  const shareOf = (part: number, whole = counts.sent) => (whole > 0 ? Math.min(part / whole, 1) : 0);
  return {
    ...presentCampaignCounts(view),
    openRate: shareOf(counts.opened),
    clickRate: shareOf(counts.clicked),
    humanOpenRate: shareOf(counts.humanOpened),
    humanClickRate: shareOf(counts.humanClicked),
    bounceRate: shareOf(counts.bounced, counts.sent + counts.refused),
    deliveryRate: shareOf(counts.delivered),
  };
};

export const recipientSchema = object({
  contactId: uuid(),
  email: nullable(email()),
  status: oneOf(...recipientStates),
  reason: nullable(text()),
  emailId: uuid(),
  attempts: count(),
  sentAt: nullable(dateTime()),
});

export const presentRecipient = ({ sentAt, ...recipient }: Recipient) => ({
  ...recipient,
  sentAt: sentAt?.toISOString() ?? null,
});
