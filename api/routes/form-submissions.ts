import joi from 'joi';
import { findForm } from '../../services/forms/find.ts';
import { type ListedSubmission, listSubmissions, resendConfirmation } from '../../services/forms/list-submissions.ts';
import { previewedForm } from '../../services/forms/public.ts';
import { formStats } from '../../services/forms/stats.ts';
import { refusalReasons, submissionStatuses } from '../../services/forms/submissions.ts';
import { formUrls } from '../../services/forms/urls.ts';
import { accepted, answer, failure, missing, missingPart, ok } from '../http/answers.ts';
import { rangeQuery } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  dateTime,
  fraction,
  list,
  namedType,
  nullable,
  object,
  oneOf,
  optional,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { plainForm } from '../presenters/form-page.ts';
import { viewOf } from './form-door.ts';

const params = { id: uuid().description('Form ID.') };
const noForm = missing('form');

const submissionSchema = namedType('FormSubmission', 'What a visitor has submitted.', {
  id: uuid().description('Submission ID.'),
  status: oneOf(...submissionStatuses).description('What has become of it.'),
  reason: nullable(oneOf(...refusalReasons)).description('Why it was refused; null unless it was.'),
  email: nullable(text()).description('Email address; null once erased.'),
  ip: nullable(text()).description('IP address of the visitor; null once erased, or if it is not known.'),
  pageUrl: nullable(text()).description('Page on which it was submitted; null if it is not known.'),
  createdAt: dateTime().description('When it was submitted.'),
  sentAt: nullable(dateTime()).description('When the confirmation was accepted; null until then.'),
  remindedAt: nullable(dateTime()).description('When the reminder was accepted; null until then.'),
  confirmedAt: nullable(dateTime()).description('When it was confirmed; null until then.'),
  contactId: nullable(uuid()).description('Contact ID; null until it is confirmed.'),
});

const presentSubmission = (submission: ListedSubmission) => ({
  ...submission,
  createdAt: submission.createdAt.toISOString(),
  sentAt: submission.sentAt?.toISOString() ?? null,
  remindedAt: submission.remindedAt?.toISOString() ?? null,
  confirmedAt: submission.confirmedAt?.toISOString() ?? null,
});

const number = () => wholeNumber({ min: 0 });
const statsSchema = namedType('FormStats', 'Counts of a form, by when visitors submitted.', {
  views: number().description('Views of the page.'),
  submitted: number().description('Submissions.'),
  confirmed: number().description('Those that were confirmed.'),
  declined: number().description('Those that were declined.'),
  expired: number().description('Those that were not confirmed in time.'),
  already: number().description('Those of people who were subscribed already.'),
  refused: (joi.object().pattern(/^/, number()).required() as Typed<Record<string, number>>).description(
    'Refused submissions by reason.',
  ),
  confirmRate: nullable(fraction()).description('Share of confirmation emails that were confirmed; null without any.'),
  byPage: list(
    object({
      pageUrl: nullable(text()).description('Page of the visitors; null if it is not known.'),
      submitted: number().description('Submissions.'),
      confirmed: number().description('Those that were confirmed.'),
    }),
  ).description('The pages with most submissions, at most 50.'),
});

const embedSchema = namedType('FormEmbed', 'Ways to show a form.', {
  html: text().description('A form that works without script.'),
  script: text().description('A script tag that shows the form inside your page.'),
  iframe: text().description('A frame with the page of the form.'),
  url: text().description('URL of the page.'),
});

const attribute = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

export const formSubmissions = routes('Forms', [
  route({
    method: 'GET',
    path: '/forms/:id/embed',
    summary: 'Get the code that shows a form in your page',
    access: 'secretKey',
    scope: 'forms:read',
    params,
    answers: { 200: answer('The code.', embedSchema), 404: noForm },
    handle: async (call) => {
      const { db, project, settings, params } = call;
      const form = await findForm(db, project.projectId, params.id);
      const { page: url, script } = formUrls(settings.baseUrl, form.id);
      const html = plainForm(await viewOf(call, await previewedForm(db, form)));
      return ok({
        html,
        script: `<script src="${script}" async></script>`,
        iframe: `<iframe src="${url}" title="${attribute(form.name)}" width="100%" height="480"></iframe>`,
        url,
      });
    },
  }),
  route({
    method: 'GET',
    path: '/forms/:id/submissions',
    summary: 'List the submissions of a form, newest first',
    access: 'secretKey',
    scope: 'forms:read',
    params,
    query: {
      ...cursorPage(),
      status: optional(oneOf(...submissionStatuses)).description('Only submissions with this status.'),
    },
    answers: { 200: answer('A page of submissions.', cursorListSchema(submissionSchema)), 404: noForm },
    handle: async ({ db, project, params, settings, query }) =>
      ok(
        presentCursorList(
          await listSubmissions(db, project.projectId, params.id, settings.secretKeys, query),
          presentSubmission,
        ),
      ),
  }),
  route({
    method: 'POST',
    path: '/forms/:id/submissions/:submissionId/resend',
    summary: 'Send the confirmation of a submission again, at most once an hour',
    access: 'secretKey',
    scope: 'forms:write',
    params: { ...params, submissionId: uuid().description('Submission ID.') },
    answers: {
      202: answer(
        'Accepted.',
        namedType('ResentSubmission', 'A submission whose confirmation is sent again.', {
          status: oneOf(...submissionStatuses).description('Its status.'),
        }),
      ),
      404: missingPart('submission', noForm),
      409: failure('The submission is not PENDING.', 'CONFLICT'),
      429: failure('Sent within the last hour, or too often to this address.', 'RATE_LIMIT_EXCEEDED'),
    },
    handle: async ({ db, project, params, settings }) =>
      accepted({ status: await resendConfirmation(db, project, params.id, params.submissionId, settings) }),
  }),
  route({
    method: 'GET',
    path: '/forms/:id/stats',
    summary: 'Get the counts of a form',
    access: 'secretKey',
    scope: 'forms:read',
    heavy: 'read',
    params,
    query: rangeQuery(),
    answers: { 200: answer('The counts.', statsSchema), 404: noForm },
    handle: async ({ db, project, params, query }) => ok(await formStats(db, project.projectId, params.id, query)),
  }),
]);
