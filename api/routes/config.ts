import { languages } from '../../platform/languages.ts';
import { answer, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { flag, list, object, text, wholeNumber } from '../http/schemas.ts';

export const config = routes('Configuration', [
  route({
    method: 'GET',
    path: '/config',
    summary: 'Get the enabled features and limits of this installation',
    access: 'public',
    worksWithoutDatabase: true,
    answers: {
      200: answer(
        'Never a secret: only whether there is one.',
        object({
          signup: object({ enabled: flag(), emailVerificationRequired: flag() }),
          oauth: object({ github: flag(), google: flag(), oidc: flag() }),
          billing: object({ enabled: flag() }),
          uploads: object({ enabled: flag() }),
          domains: object({ dkimSigning: flag(), mailFromSubdomain: flag() }),
          notifications: object({ sns: flag(), returnedMail: flag() }),
          limits: object({
            requestsPerMinute: wholeNumber(),
            attachmentBytes: wholeNumber(),
            messageBytes: wholeNumber(),
            importBytes: wholeNumber(),
          }),
          languages: list(text()),
        }),
      ),
    },
    handle: ({ settings }) =>
      ok({
        signup: { enabled: settings.signupEnabled, emailVerificationRequired: settings.emailVerificationRequired },
        oauth: {
          github: settings.oauth.github !== undefined,
          google: settings.oauth.google !== undefined,
          oidc: settings.oauth.oidc !== undefined,
        },
        billing: { enabled: settings.stripe !== undefined },
        uploads: { enabled: true },
        domains: { dkimSigning: settings.dkimSigning, mailFromSubdomain: settings.mailFrom.subdomain !== undefined },
        notifications: {
          sns: settings.sns.topicArns.length > 0,
          returnedMail: settings.mailFrom.bouncePort !== undefined,
        },
        limits: {
          requestsPerMinute: settings.rateLimitPerMinute,
          attachmentBytes: settings.attachmentMaxBytes,
          messageBytes: settings.messageMaxBytes,
          importBytes: settings.importMaxBytes,
        },
        languages,
      }),
  }),
]);
