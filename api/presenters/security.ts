import joi from 'joi';
import { levels, MINIMUM_MAILS, type SecurityState, thresholds } from '../../services/security/state.ts';
import { dateTime, flag, list, nullable, object, oneOf, record, text, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const share = (): Typed<number> => joi.number().min(0).required();
const level = () => oneOf(...levels);
export const ratesSchema = () =>
  object({
    sent: wholeNumber(),
    refused: wholeNumber(),
    bounced: wholeNumber(),
    complained: wholeNumber(),
    bounceRate: share(),
    complaintRate: share(),
    bounceLevel: level(),
    complaintLevel: level(),
    level: level(),
  });
export const securitySchema = object({
  level: level(),
  disabled: flag(),
  disabledReason: nullable(text()),
  last24h: ratesSchema(),
  last7d: ratesSchema(),
  allTime: ratesSchema(),
  minimumMails: wholeNumber(),
  thresholds: record(),
  suspensions: list(
    object({ reason: text(), automatic: flag(), disabledAt: dateTime(), enabledAt: nullable(dateTime()) }),
  ),
});

/** With fewer mails every level is `healthy`. */
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
