import { expect } from 'chai';
import { type Mail, type MailSources, renderMail } from '../../../platform/renderer/mail.ts';
import { htmlOf } from '../../../platform/renderer/outline.ts';

/** The HTML that a template makes, in this process and without the net that the renderer has below it. */
export function render(html: string, data: Record<string, unknown> = {}): string {
  return whole({ subject: '', html }, data).html;
}

export function renderSubject(subject: string, data: Record<string, unknown> = {}): string {
  return whole({ subject, html: '' }, data).subject;
}

export function renderText(html: string, data: Record<string, unknown> = {}, footer = ''): string {
  return whole({ subject: '', html }, data, footer).text;
}

/** That it can be put together again, to the letter, is asserted for whatever any test renders. */
function whole(sources: MailSources, data: Record<string, unknown>, footer = ''): Mail {
  const mail = renderMail(sources, footer, names(data));
  if (mail.outlined) expect(htmlOf(mail.outlined)).to.equal(mail.html);
  return mail;
}

const names = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.assign(Object.create(null), data, { data });
