import { MailReaches } from '../../services/addresses/mail-reach.ts';
import { verifyAddress } from '../../services/addresses/verify.ts';
import { answer, success } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { text } from '../http/schemas.ts';
import { verifiedSchema } from '../presenters/verified.ts';

export function verify({ resolver }: Pick<AppParts, 'resolver'>): RouteGroup {
  const reaches = new MailReaches(resolver);
  return routes('Emails', [
    route({
      method: 'POST',
      path: '/v1/verify',
      summary: 'Whether an e-mail address can receive mail, and what kind of address it is',
      access: 'secretKey',
      whileDisabled: true,
      body: { email: text({ min: 0 }) },
      answers: { 200: answer('What is known of it; one that is none is not `valid`.', verifiedSchema) },
      handle: async ({ body }) => success(await verifyAddress(reaches, body.email)),
    }),
  ]);
}
