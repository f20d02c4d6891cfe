import { MailReachCache } from '../../services/addresses/mail-reach.ts';
import { verifyAddress } from '../../services/addresses/verify.ts';
import { answer, success } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { request, text } from '../http/schemas.ts';
import { verifiedSchema } from '../presenters/verified.ts';

export function verify({ resolver }: Pick<AppParts, 'resolver'>): RouteGroup {
  const mailReach = new MailReachCache(resolver);
  return routes('Emails', [
    route({
      method: 'POST',
      path: '/v1/verify',
      summary: 'Check whether an email address can receive email',
      access: 'secretKey',
      scope: 'send:read',
      whileDisabled: true,
      body: request('VerifyAddressRequest', 'An address to check.', {
        email: text({ min: 0 }).description('Email address; may be malformed.').example('ann@example.com'),
      }),
      answers: { 200: answer('The result. A malformed address is not `valid`.', verifiedSchema) },
      handle: async ({ project, body }) => success(await verifyAddress(mailReach, project.projectId, body.email)),
    }),
  ]);
}
