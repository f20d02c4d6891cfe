import { languages } from '../../platform/languages.ts';
import { answer, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { flag, list, namedType, object, text, wholeNumber } from '../http/schemas.ts';

export const config = routes('Configuration', [
  route({
    method: 'GET',
    path: '/config',
    summary: 'Get the features and limits of this installation',
    access: 'public',
    worksWithoutDatabase: true,
    answers: {
      200: answer(
        'Features and limits, without secrets.',
        namedType('InstallationConfig', 'Features and limits of this installation.', {
          signup: object({
            enabled: flag().description('Whether users can sign up.'),
            emailVerificationRequired: flag().description('Whether users must verify their email address.'),
          }).description('Sign-up.'),
          oauth: object({
            github: flag().description('Whether users can sign in with GitHub.'),
            google: flag().description('Whether users can sign in with Google.'),
            oidc: flag().description('Whether users can sign in with an OpenID Connect provider.'),
          }).description('Sign-in with OAuth providers.'),
          billing: object({ enabled: flag().description('Whether projects are billed.') }).description('Billing.'),
          uploads: object({ enabled: flag().description('Always true.') }).description('Image uploads.'),
          domains: object({
            dkimSigning: flag().description('Whether Everpost signs emails with DKIM; otherwise the mail relay does.'),
            mailFromSubdomain: flag().description(
              'Whether returned mail goes to a subdomain of the sender domain, which then needs SPF and MX records.',
            ),
          }).description('Sender domains.'),
          notifications: object({
            sns: flag().description('Whether bounces and complaints are received from Amazon SNS.'),
            returnedMail: flag().description('Whether returned mail is received over SMTP.'),
          }).description('How the installation learns about bounces and complaints.'),
          limits: object({
            requestsPerMinute: wholeNumber().description('Rate limit of a project, in requests per minute.'),
            attachmentBytes: wholeNumber()
              .description('Most bytes of all attachments of an email.')
              .example(10_000_000),
            messageBytes: wholeNumber().description('Most bytes of a message.').example(10_000_000),
            importBytes: wholeNumber().description('Most bytes of an import file.').example(10_000_000),
          }).description('Limits of the installation.'),
          languages: list(text())
            .description('Languages of unsubscribe footers and hosted pages.')
            .example([...languages]),
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
