import { ApiError, badRequest } from '../../platform/errors.ts';
import { readSnsMessage, SnsGate } from '../../platform/sns.ts';
import { receiveSnsMessage } from '../../services/notices/sns.ts';
import { answer, failure, ok } from '../http/answers.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { flag, object, text } from '../http/schemas.ts';

/** Several times what the provider can send. */
const MAX_BYTES = 1024 * 1024;

export function snsWebhook(): RouteGroup {
  let gate: SnsGate | undefined;
  return routes('Webhooks', [
    route({
      method: 'POST',
      path: '/webhooks/sns',
      summary: 'Notices of Amazon SES about mail, through Amazon SNS; its signature says who calls',
      access: 'nobody',
      // Whatever it is called: SNS sends JSON as plain text.
      bodyKind: 'raw',
      body: text({ min: 0 }),
      bodyLimit: () => MAX_BYTES,
      answers: {
        200: answer('It was genuine, whether it meant anything or not.', object({ success: flag(), outcome: text() })),
        400: failure('The body is no JSON.', 'BAD_REQUEST'),
        403: failure('Signature, certificate host or topic are not those that we trust.', 'FORBIDDEN'),
        413: failure('It is larger than any notice.', 'PAYLOAD_TOO_LARGE'),
        502: failure('The provider could not be asked just now; it will try again.', 'EXTERNAL_SERVICE_ERROR'),
      },
      handle: async ({ db, settings, log, body }) => {
        const message = readSnsMessage(parsed(body));
        if (!message) throw new ApiError(403, 'FORBIDDEN', 'This is not a message of Amazon SNS.');
        gate ??= new SnsGate(settings.sns);
        const outcome = await receiveSnsMessage(db, gate, settings.secretKeys, message);
        log.debug({ snsMessageId: message.MessageId.slice(0, 200), outcome }, 'a notice of the mail provider');
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
