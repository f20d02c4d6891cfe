import type { CampaignTiming } from '../../services/campaigns/timing.ts';
import { dateTime, flag, list, namedType, nullable, object, text, wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

const zoneSchema = object({
  timezone: text().description('IANA time zone.').example('Europe/Berlin'),
  count: count().description('Number of recipients.'),
  at: dateTime().description('When clocks of the time zone show the time.'),
  late: flag().description('Whether they have shown it already.'),
});

export const campaignTimingSchema = namedType('CampaignTiming', 'When recipients get a campaign by local time.', {
  firstAt: nullable(dateTime()).description('When the first recipients get the email; null without recipients.'),
  lastAt: nullable(dateTime()).description('When the last recipients get the email; null without recipients.'),
  zones: list(zoneSchema).description('Time zones of the recipients, in the order of their moments.'),
  withoutTimezone: count().description(
    "Number of recipients without a usable `data.timezone`, who are counted in the project's time zone.",
  ),
  late: count().description('Number of recipients whose clocks have shown the time already.'),
});

export const presentCampaignTiming = ({ firstAt, lastAt, zones, ...numbers }: CampaignTiming) => ({
  firstAt: firstAt?.toISOString() ?? null,
  lastAt: lastAt?.toISOString() ?? null,
  zones: zones.map(({ at, ...zone }) => ({ ...zone, at: at.toISOString() })),
  ...numbers,
});
