// Reports about accepted mail, as servers of recipients send them: delivery status notifications (RFC 3464) and feedback
// reports (RFC 5965). They quote the headers of the mail.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { Misbehaviour } from './misbehaviour.ts';

export interface ReportedMail {
  kind: NonNullable<Misbehaviour['report']>;
  from: string;
  to: string;
  raw: Buffer;
}

const HOST = 'mail-catcher.localhost';
const TRIES = 10;
const RETRY_MS = 1_000;

const details = ({ kind, to }: ReportedMail): string[] =>
  kind === 'bounce'
    ? [
        'Content-Type: message/delivery-status',
        '',
        `Reporting-MTA: dns; ${HOST}`,
        '',
        `Final-Recipient: rfc822; ${to}`,
        'Action: failed',
        'Status: 5.1.1',
        'Diagnostic-Code: smtp; 550 5.1.1 User unknown',
      ]
    : [
        'Content-Type: message/feedback-report',
        '',
        'Feedback-Type: abuse',
        'User-Agent: Everpost-Mail-Catcher/1',
        'Version: 1',
        `Original-Rcpt-To: <${to}>`,
      ];

function reportOf(mail: ReportedMail, mailbox: string): string {
  const boundary = randomUUID();
  const isBounce = mail.kind === 'bounce';
  const headers = mail.raw.toString('latin1').split(/\r?\n\r?\n/, 1)[0] ?? '';
  const part = (lines: string[]) => [`--${boundary}`, ...lines, ''];
  return [
    `From: ${isBounce ? 'Mail Delivery System <mailer-daemon' : 'Feedback Loop <feedback'}@${HOST}>`,
    `To: <${mailbox}>`,
    `Subject: ${isBounce ? 'Undelivered Mail Returned to Sender' : 'Abuse report'}`,
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <${boundary}@${HOST}>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${isBounce ? 'delivery-status' : 'feedback-report'}; boundary="${boundary}"`,
    '',
    ...part([
      'Content-Type: text/plain',
      '',
      `The mail to ${mail.to} ${isBounce ? 'bounced' : 'was reported as spam'}.`,
    ]),
    ...part(details(mail)),
    ...part(['Content-Type: text/rfc822-headers', '', headers]),
    `--${boundary}--`,
    '',
  ].join('\r\n');
}

/** Sends a report to the listener for returned mail. Retries for some seconds: the worker may be restarting. */
export async function sendReport(mail: ReportedMail, port: number): Promise<void> {
  const domain = mail.from.slice(mail.from.lastIndexOf('@') + 1);
  // Mailboxes that take reports whether or not the envelope sender is one of them (MAIL_FROM_SUBDOMAIN).
  const mailbox = `${mail.kind === 'bounce' ? 'postmaster' : 'abuse'}@${domain}`;
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  for (let tries = 1; ; tries++) {
    try {
      await transport.sendMail({ envelope: { from: '', to: mailbox }, raw: reportOf(mail, mailbox) });
      return;
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(RETRY_MS);
    }
  }
}
