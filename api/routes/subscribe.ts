import { ApiError } from '../../platform/errors.ts';
import { type Names, receive, receiveTrusted } from '../../services/forms/door.ts';
import { findFormNamed, formNotFound } from '../../services/forms/find.ts';
import { mayUsePublicKey } from '../../services/forms/public.ts';
import type { GivenSubmission } from '../../services/forms/receive.ts';
import { answer, failure, missing, success } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { email, flag, list, namedType, nullable, object, optional, record, request, text } from '../http/schemas.ts';
import { continueAnswer, receivedSchema } from './form-door.ts';

const names: Names = { data: 'data.', topics: 'topics', token: 'proof' };
const MAX_USER_AGENT = 500;
const MAX_SHORT = 500;
const MAX_BODY_BYTES = 64 * 1024;

const envelope = namedType('SubscribeResponse', 'What becomes of the submission.', {
  success: flag().description('Always true.'),
  data: receivedSchema.description('The same for every address.'),
});

export const subscribe = routes('Forms', [
  route({
    method: 'POST',
    path: '/v1/subscribe',
    summary: 'Submit a form from your own interface',
    access: 'anyKey',
    scope: 'forms:write',
    body: request('SubscribeRequest', 'A submission of a form.', {
      form: text({ max: 100 }).description('ID or key of the form.').example('newsletter'),
      email: email().description('Email address.'),
      data: optional(nullable(record())).description('Values by key of the field.').example({ firstName: 'Ann' }),
      topics: optional(list(text({ max: 100 }), { max: 100 })).description(
        'Keys of topics of the form; all of them by default.',
      ),
      consent: optional(flag()).description('Whether the visitor has checked the box beside the consent text.'),
      proof: optional(
        object({
          token: text({ max: 1_000 }).description('Token of GET /f/{formId}/challenge.'),
          nonce: text({ max: 100 }).description('The work.'),
        }),
      ).description('Proof of work; needed with the public key.'),
      pageUrl: optional(nullable(text({ max: 2_000 }))).description('Page on which the visitor has submitted.'),
      lang: optional(nullable(text({ max: 35 }))).description('Language of the visitor, a BCP 47 tag.'),
      timezone: optional(nullable(text({ max: 100 }))).description('IANA time zone of the visitor.'),
      ip: optional(nullable(text({ max: 100 }))).description('IP address of the visitor; with the secret key only.'),
      userAgent: optional(nullable(text({ max: MAX_SHORT }))).description(
        'User agent of the visitor; with the secret key only.',
      ),
    }),
    bodyLimit: () => MAX_BODY_BYTES,
    answers: {
      200: answer('Received.', envelope),
      403: failure('The policy of the public key does not allow it, or the project is disabled.', 'FORBIDDEN'),
      404: missing('form'),
      429: failure('Too many submissions of this form or from this address.', 'RATE_LIMIT_EXCEEDED'),
    },
    handle: async ({ db, settings, project, keyKind, body, request }) => {
      const { projectId } = project;
      const isPublic = keyKind === 'public';
      if (isPublic && !(await mayUsePublicKey(db, projectId, request.headers.origin)))
        throw new ApiError(403, 'FORBIDDEN', 'The policy of the public key does not allow this origin.');
      const form = await findFormNamed(db, projectId, body.form);
      if (form.status !== 'ACTIVE') throw formNotFound();
      const given: GivenSubmission = {
        email: body.email,
        fields: body.data ?? {},
        topics: body.topics ?? [],
        consent: body.consent ?? false,
        lang: body.lang ?? null,
        timezone: body.timezone ?? null,
        pageUrl: body.pageUrl ?? null,
      };
      const deps = { db, settings };
      if (!isPublic) {
        const origin = { ip: body.ip ?? null, userAgent: body.userAgent ?? null };
        await receiveTrusted(deps, form, given, origin, names);
        return success({ status: 'RECEIVED' });
      }
      const origin = { ip: request.ip, userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null };
      const { token, nonce } = body.proof ?? {};
      const evidence = { token, nonce, isTrapped: false, isFormPost: false };
      const outcome = await receive(deps, form, given, origin, evidence, names);
      return success(
        outcome.kind === 'stored' ? { status: 'RECEIVED' } : continueAnswer(settings.baseUrl, form, outcome.token),
      );
    },
  }),
]);
