import { isDatabaseUnavailable, isOutcomeUnknown, isStatementTimeout } from '../../platform/database-errors.ts';
import { ApiError } from '../../platform/errors.ts';
import { logFailure } from '../../platform/outages.ts';
import { isNoSpace, noSpace } from '../http/body.ts';
import type { AppParts, Context, Middleware } from '../http/context.ts';
import { envelopeOf } from '../http/envelope.ts';
import { PlainError } from '../http/validate.ts';
import { isNavigation, presentErrorPage, presentFormError } from '../presenters/error-page.ts';

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
        showPage(ctx, error);
        return;
      }
      answer(ctx, error instanceof ApiError ? error : unexpected(error, ctx, { log, hasFullDisk }));
    }
  };

function answer(ctx: Context, error: ApiError): void {
  ctx.status = error.status;
  if (error.extras.headers) ctx.set(error.extras.headers);
  ctx.body = envelopeOf(error, ctx.state.id);
  ctx.state.failure = { code: error.code, message: error.message, errors: error.extras.errors };
  showPage(
    ctx,
    error,
    error.extras.errors?.map(({ field }) => field),
  );
}

/** People who open an address in a browser get a page. */
function showPage(ctx: Context, error: { status: number; message: string }, fields: string[] = []): void {
  if (!isNavigation(ctx.headers)) return;
  const { headers, body } = ctx.path.startsWith('/f/')
    ? presentFormError({ status: error.status, fields }, ctx.headers)
    : presentErrorPage(error, ctx.headers, ctx.state.id);
  ctx.set(headers);
  ctx.body = body;
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
    suggestion: `If this keeps happening, contact the operator with the request ID ${id}.`,
  });
}

const unavailable = (message: string, suggestion: string) =>
  new ApiError(503, 'INTERNAL_SERVER_ERROR', message, { suggestion, headers: { 'Retry-After': RETRY_SECONDS } });

const unreachable = () => unavailable('The database is currently unreachable.', 'Retry in a moment.');

const diskFull = () =>
  unavailable(
    "The database's disk is full, so nothing can be stored.",
    'Retry later. The operator has to free disk space.',
  );

const outcomeUnknown = () =>
  unavailable(
    'The connection to the database was lost before it responded. The request may or may not have taken effect.',
    'Check whether the request took effect before you retry it. A request with an Idempotency-Key is safe to retry with the same key.',
  );

const tooSlow = () =>
  unavailable(
    'The database query took too long and was cancelled. It changed nothing.',
    'Retry later, or request less data at once.',
  );
