import joi from 'joi';
import { badRequest } from '../../platform/errors.ts';
import { parseMoment } from '../../services/conditions/instants.ts';
import type { Typed } from './typed.ts';
import { documented } from './violations.ts';

/** An unreadable time is a 400 here, like one in the past. */
export const time = (): Typed<unknown> =>
  documented(joi.any(), { type: ['string', 'null'], format: 'date-time' }).example('2099-01-31T09:00:00Z');

export function futureTime(given: unknown): Date | undefined {
  if (given === undefined || given === null) return undefined;
  const time = typeof given === 'string' ? timeOf(given.trim()) : undefined;
  if (time === undefined)
    throw badRequest('"scheduledFor" must be an ISO 8601 date-time, such as 2027-01-31T09:00:00Z.');
  if (time <= Date.now()) throw badRequest('"scheduledFor" must be in the future.');
  return new Date(time);
}

const LAX = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(?:(Z)|([+-]\d{2}):?(\d{2}))?$/i;

/** Accepts times without seconds, without the colon of the offset, or without offset (UTC). */
function timeOf(text: string): number | undefined {
  const [, day, minute, second = ':00', , hours, minutes] = LAX.exec(text) ?? [];
  return parseMoment(day ? `${day}T${minute}${second}${hours ? `${hours}:${minutes}` : 'Z'}` : text);
}
