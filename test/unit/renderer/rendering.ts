import { expect } from 'chai';
import { type Mail, type MailSources, renderMail } from '../../../platform/templates/mail.ts';
import { htmlOf } from '../../../platform/templates/skeleton.ts';

/** Renders HTML in this process, without the limits of the renderer's child processes. */
export function render(html: string, data: Record<string, unknown> = {}): string {
  return renderChecked({ subject: '', html }, data).html;
}

export function renderSubject(subject: string, data: Record<string, unknown> = {}): string {
  return renderChecked({ subject, html: '' }, data).subject;
}

export function renderText(html: string, data: Record<string, unknown> = {}, footer = ''): string {
  return renderChecked({ subject: '', html }, data, footer).text;
}

/** Renders a mail, and asserts that its skeleton and values give exactly the same HTML. */
function renderChecked(sources: MailSources, data: Record<string, unknown>, footer = ''): Mail {
  const mail = renderMail(sources, footer, variables(data));
  if (mail.skeletonMail) expect(htmlOf(mail.skeletonMail)).to.equal(mail.html);
  return mail;
}

const variables = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.assign(Object.create(null), data, { data });
