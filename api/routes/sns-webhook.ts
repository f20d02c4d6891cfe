import { ApiError, badRequest } from '../../platform/errors.ts';
import { readSnsMessage, SnsVerifier } from '../../platform/integrations/sns.ts';
import { receiveSnsMessage } from '../../services/notices/sns.ts';
import { answer, failure, ok } from '../http/answers.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { flag, namedType, text } from '../http/schemas.ts';

/** Several times the size of the provider's messages. */
const MAX_BYTES = 1024 * 1024;

export function snsWebhook(): RouteGroup {
  let gate: SnsVerifier | undefined;
  return routes('Webhooks', [
    route({
      method: 'POST',
      path: '/webhooks/sns',
      summary: 'Receive notifications of Amazon SES through Amazon SNS',
      access: 'public',
      // Any content type: SNS sends JSON as plain text.
      bodyKind: 'raw',
      body: text({ min: 0 }).description('Signed Amazon SNS message, as JSON.'),
      bodyLimit: () => MAX_BYTES,
      answers: {
        200: answer(
          'The message is authentic.',
          namedType('SnsOutcome', 'How an Amazon SNS message was handled.', {
            success: flag().description('Always true.'),
            outcome: text()
              .description('`recorded`, `repeated` (received before), `confirmed` (the subscription) or `ignored`.')
              .example('recorded'),
          }),
        ),
        400: failure('The body is not JSON.', 'BAD_REQUEST'),
        403: failure('The signature, certificate host or topic is not trusted.', 'FORBIDDEN'),
        413: failure('The message is too large.', 'PAYLOAD_TOO_LARGE'),
        502: failure(
          'The certificate or the confirmation could not be fetched; SNS retries.',
          'EXTERNAL_SERVICE_ERROR',
        ),
      },
      handle: async ({ db, settings, log, body }) => {
        const message = readSnsMessage(parsed(body));
        if (!message) throw new ApiError(403, 'FORBIDDEN', 'This is not an Amazon SNS message.');
        gate ??= new SnsVerifier(settings.sns);
        const outcome = await receiveSnsMessage(db, gate, settings.secretKeys, message);
        log.debug({ snsMessageId: message.MessageId.slice(0, 200), outcome }, 'received SNS message');
        return ok({ success: true, outcome });
      },
    }),
  ]);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
}
