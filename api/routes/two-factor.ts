import { beginTotp, disableTotp, enableTotp } from '../../services/users/two-factor.ts';
import { givenCode } from '../http/account-schemas.ts';
import { answer, failure, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, namedType, request, text } from '../http/schemas.ts';

const notOn = (description: string) => failure(description, 'BAD_REQUEST');
const wrongCode = failure('There is no session, or the code is wrong or was used before.', 'INVALID_CREDENTIALS');
const throttled = failure('Too many wrong codes.', 'RATE_LIMIT_EXCEEDED');

const codeRequest = request('ChangeTwoFactorRequest', 'A code that confirms the change.', {
  code: givenCode().description(
    'Current code of the authenticator app. A recovery code can turn two-factor authentication off, but not on.',
  ),
});

const shared = { access: 'session', unverified: true } as const;

export const twoFactor = routes('Users', [
  route({
    ...shared,
    method: 'POST',
    path: '/users/@me/totp',
    summary: 'Start setting up two-factor authentication',
    confirmed: true,
    answers: {
      200: answer(
        'The secret to add to an authenticator app. Two-factor authentication is off until a code is confirmed.',
        namedType('TwoFactorSetup', 'A secret for an authenticator app.', {
          secret: text().description('TOTP secret, in Base32.').example('JBSWY3DPEHPK3PXP'),
          uri: text()
            .description('The secret as an `otpauth:` URI, to show as a QR code.')
            .example('otpauth://totp/Everpost:ann%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Everpost'),
        }),
      ),
      409: failure('Two-factor authentication is already on.', 'CONFLICT'),
    },
    handle: async ({ db, settings, user }) => ok(await beginTotp(db, settings.secretKeys, user)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/users/@me/totp/confirm',
    summary: 'Turn on two-factor authentication with a first code, and end all other sessions',
    body: codeRequest,
    answers: {
      200: answer(
        'Recovery codes. They cannot be retrieved again.',
        namedType('RecoveryCodes', 'Codes to use when the authenticator app is not at hand.', {
          recoveryCodes: list(text())
            .description('Ten recovery codes. Each works once in place of a code of the authenticator app.')
            .example(['k7mp-2xwq-h4tr-9vbn']),
        }),
      ),
      400: notOn('No setup was started.'),
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
    summary: 'Turn off two-factor authentication',
    body: codeRequest,
    answers: {
      204: answer('Two-factor authentication is off.'),
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
