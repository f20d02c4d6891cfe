import { isDatabaseAway } from '../../platform/database-away.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Context, Middleware } from '../http/context.ts';
import { envelopeOf } from '../http/envelope.ts';
import { PlainError } from '../http/validate.ts';

const RETRY_SECONDS = '2';

/** Whatever is thrown below becomes an answer. What we did not foresee is logged and told without its text. */
export const errors =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof PlainError) {
        ctx.status = error.status;
        ctx.body = { error: error.message };
        return;
      }
      answer(ctx, error instanceof ApiError ? error : unforeseen(error, ctx, log));
    }
  };

function answer(ctx: Context, error: ApiError): void {
  ctx.status = error.status;
  if (error.extras.headers) ctx.set(error.extras.headers);
  ctx.body = envelopeOf(error, ctx.state.id);
}

function unforeseen(error: unknown, ctx: Context, log: Logger): ApiError {
  const { id, route } = ctx.state;
  if (isDatabaseAway(error)) {
    log.error({ err: error, requestId: id, route }, 'the database cannot be reached');
    return new ApiError(503, 'INTERNAL_SERVER_ERROR', 'The service cannot reach its database just now.', {
      suggestion: 'Send the request again in a moment.',
      headers: { 'Retry-After': RETRY_SECONDS },
    });
  }
  log.error({ err: error, requestId: id, route }, 'unexpected error');
  return new ApiError(500, 'INTERNAL_SERVER_ERROR', 'Something went wrong on our side.', {
    suggestion: `If it happens again, tell the operator the request id ${id}.`,
  });
}
