import { beginTotp, disableTotp, enableTotp } from '../../services/users/two-factor.ts';
import { givenCode } from '../http/account-schemas.ts';
import { answer, failure, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, object, text } from '../http/schemas.ts';

const notOn = (description: string) => failure(description, 'BAD_REQUEST');
const wrongCode = failure('There is no session, or the code is wrong or was used before.', 'INVALID_CREDENTIALS');
const throttled = failure('Too many wrong codes.', 'RATE_LIMIT_EXCEEDED');

const shared = { access: 'session', unverified: true } as const;

export const twoFactor = routes('Users', [
  route({
    ...shared,
    method: 'POST',
    path: '/users/@me/totp',
    summary: 'Begin to set up two-factor authentication; it is on once a code is confirmed',
    confirmed: true,
    answers: {
      200: answer('The secret, and its address for a QR code.', object({ secret: text(), uri: text() })),
      409: failure('Two-factor authentication is on already.', 'CONFLICT'),
    },
    handle: async ({ db, settings, user }) => ok(await beginTotp(db, settings.secretKeys, user)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/users/@me/totp/confirm',
    summary: 'Turn two-factor authentication on with a first code; all other sessions end',
    body: { code: givenCode() },
    answers: {
      200: answer(
        'Recovery codes, shown only here; each replaces a code once.',
        object({ recoveryCodes: list(text()) }),
      ),
      400: notOn('There is no set-up to confirm.'),
      401: wrongCode,
      429: throttled,
    },
    handle: async ({ db, settings, user, session, body, actor }) => {
      const proof = { code: body.code, actor, session };
      return ok({ recoveryCodes: await enableTotp(db, settings.secretKeys, user, proof) });
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/users/@me/totp',
    summary: 'Turn two-factor authentication off with a code or a recovery code',
    body: { code: givenCode() },
    answers: {
      204: answer('It is off.'),
      400: notOn('Two-factor authentication is not on.'),
      401: wrongCode,
      429: throttled,
    },
    handle: async ({ db, settings, user, body, actor }) => {
      await disableTotp(db, settings.secretKeys, user, { code: body.code, actor });
      return noContent();
    },
  }),
]);
