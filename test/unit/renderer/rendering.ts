import { renderMail } from '../../../platform/renderer/mail.ts';

/** The HTML that a template makes, in this process and without the net that the renderer has below it. */
export function render(html: string, data: Record<string, unknown> = {}): string {
  return renderMail({ subject: '', html }, '', names(data)).html;
}

export function renderSubject(subject: string, data: Record<string, unknown> = {}): string {
  return renderMail({ subject, html: '' }, '', names(data)).subject;
}

export function renderText(html: string, data: Record<string, unknown> = {}, footer = ''): string {
  return renderMail({ subject: '', html }, footer, names(data)).text;
}

const names = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.assign(Object.create(null), data, { data });
