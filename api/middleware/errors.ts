import { isDatabaseUnavailable, isOutcomeUnknown, isStatementTimeout } from '../../platform/database-errors.ts';
import { ApiError } from '../../platform/errors.ts';
import { logFailure } from '../../platform/outages.ts';
import { isNoSpace, noSpace } from '../http/body.ts';
import type { AppParts, Context, Middleware } from '../http/context.ts';
import { envelopeOf } from '../http/envelope.ts';
import { PlainError } from '../http/validate.ts';

const RETRY_SECONDS = '2';

/** Converts errors to responses. Unexpected errors are logged, and their text is not sent. */
export const errors =
  ({ log, hasFullDisk }: Pick<AppParts, 'log' | 'hasFullDisk'>): Middleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof PlainError) {
        ctx.status = error.status;
        ctx.body = { error: error.message };
        ctx.state.failure = { code: null, message: error.message };
        return;
      }
      answer(ctx, error instanceof ApiError ? error : unexpected(error, ctx, { log, hasFullDisk }));
    }
  };

function answer(ctx: Context, error: ApiError): void {
  ctx.status = error.status;
  if (error.extras.headers) ctx.set(error.extras.headers);
  ctx.body = envelopeOf(error, ctx.state.id);
  ctx.state.failure = { code: error.code, message: error.message };
}

function unexpected(
  error: unknown,
  ctx: Context,
  { log, hasFullDisk }: Pick<AppParts, 'log' | 'hasFullDisk'>,
): ApiError {
  const { id, route } = ctx.state;
  if (isDatabaseUnavailable(error)) {
    ctx.state.isOutage = true;
    logFailure(log, { err: error, requestId: id, route }, 'database is unavailable');
    const writes = !['GET', 'HEAD'].includes(ctx.method);
    if (writes && isOutcomeUnknown(error)) return outcomeUnknown();
    return hasFullDisk() ? diskFull() : unreachable();
  }
  if (isNoSpace(error)) {
    log.error({ err: error, requestId: id, route }, 'no space left on the disk');
    return noSpace();
  }
  if (isStatementTimeout(error)) {
    log.error({ err: error, requestId: id, route }, 'statement timed out');
    return tooSlow();
  }
  log.error({ err: error, requestId: id, route }, 'unexpected error');
  return new ApiError(500, 'INTERNAL_SERVER_ERROR', 'Something went wrong on our side.', {
    suggestion: `If it happens again, tell the operator the request id ${id}.`,
  });
}

const unavailable = (message: string, suggestion: string) =>
  new ApiError(503, 'INTERNAL_SERVER_ERROR', message, { suggestion, headers: { 'Retry-After': RETRY_SECONDS } });

const unreachable = () =>
  unavailable('The service cannot reach its database just now.', 'Send the request again in a moment.');

const diskFull = () =>
  unavailable(
    "The database's disk is full: nothing can be stored just now.",
    'Send the request again later. The operator must free some space.',
  );

const outcomeUnknown = () =>
  unavailable(
    'The connection to the database broke before it answered. The request may or may not have been carried out.',
    'Check whether it was carried out before you send it again. A request with an Idempotency-Key can be sent again with the same key: it is carried out once.',
  );

const tooSlow = () =>
  unavailable(
    'The request took the database too long and was cancelled. The statement that was running has changed nothing.',
    'Send the request again later, or ask for less at once.',
  );
