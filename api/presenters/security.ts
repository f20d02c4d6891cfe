import joi from 'joi';
import { levels, MINIMUM_MAILS, type SecurityState, thresholds } from '../../services/security/state.ts';
import { dateTime, flag, list, namedType, nullable, oneOf, record, text, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const share = (): Typed<number> => joi.number().min(0).required();
const level = () => oneOf(...levels);

export const ratesSchema = namedType('ReputationRates', 'Bounces and complaints of a period.', {
  sent: wholeNumber().description('Number of sent emails.'),
  refused: wholeNumber().description(
    'Number of emails whose recipient was refused for good. They count as bounced, but not as sent.',
  ),
  bounced: wholeNumber().description('Number of bounced emails, including refused ones.'),
  complained: wholeNumber().description('Number of emails that recipients reported as spam.'),
  bounceRate: share().description('Bounced emails as a share of sent and refused ones; 0.05 is 5%.').example(0.012),
  complaintRate: share().description('Complaints as a share of sent emails; 0.001 is 0.1%.').example(0.0002),
  bounceLevel: level().description('Level of the bounce rate.'),
  complaintLevel: level().description('Level of the complaint rate.'),
  level: level().description('The worse of both levels.'),
});

const suspensionSchema = namedType('Suspension', 'A period during which the project was disabled.', {
  reason: text().description('Why the project was disabled.'),
  automatic: flag().description('Whether Everpost disabled the project automatically.'),
  disabledAt: dateTime().description('When the project was disabled.'),
  enabledAt: nullable(dateTime()).description('When the project was enabled again; null until then.'),
});

export const securitySchema = namedType('ProjectSecurity', 'Sender reputation and suspensions of a project.', {
  level: level().description('The worst level of all periods.'),
  disabled: flag().description('Whether the project is disabled.'),
  disabledReason: nullable(text()).description('Why the project is disabled; null if it is not.'),
  last24h: ratesSchema.description('Rates of the last 24 hours.'),
  last7d: ratesSchema.description('Rates of the last 7 days.'),
  allTime: ratesSchema.description('Rates since the project was created.'),
  minimumMails: wholeNumber()
    .description('Number of emails below which a level is always `healthy`.')
    .example(MINIMUM_MAILS),
  thresholds: record().description('Rates from which a level is `warning` or `critical`.').example(thresholds),
  suspensions: list(suspensionSchema).description('Suspensions of the project, newest first, at most 20.'),
});

export const presentSecurity = ({ level, disabled, disabledReason, rates, suspensions }: SecurityState) => ({
  level,
  disabled,
  disabledReason,
  last24h: rates.last24h,
  last7d: rates.last7d,
  allTime: rates.allTime,
  minimumMails: MINIMUM_MAILS,
  thresholds,
  suspensions: suspensions.map(({ reason, automatic, disabledAt, enabledAt }) => ({
    reason,
    automatic,
    disabledAt: disabledAt.toISOString(),
    enabledAt: enabledAt?.toISOString() ?? null,
  })),
});
