// Bounce and complaint reports, as mail servers and mailbox providers send them.
interface Report {
  to: string;
  /** Headers of the returned mail. */
  headers?: string;
}

const lines = (...all: string[]): string => all.join('\r\n');

/** Returns a delivery status notification (RFC 3464). */
export function bounceReport({
  to,
  action = 'failed',
  status = '5.1.1',
  diagnostic = 'smtp; 550 5.1.1 <user@example.com>: no such user',
  headers = 'Subject: Hello',
}: Report & { action?: string; status?: string; diagnostic?: string }): string {
  return lines(
    'From: Mail Delivery System <MAILER-DAEMON@mx.example.com>',
    `To: ${to}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="report"',
    '',
    '--report',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'Your message could not be delivered.',
    '--report',
    'Content-Description: Delivery report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.com',
    'Arrival-Date: Sun, 15 Nov 2026 10:00:00 +0000',
    '',
    'Final-Recipient: rfc822; user@example.com',
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
    '',
    '--report',
    'Content-Type: text/rfc822-headers',
    '',
    headers,
    '--report--',
    '',
  );
}

/** Returns a feedback report (RFC 5965). */
export function complaintReport({
  to,
  type = 'abuse',
  originalFrom,
  headers = 'Subject: Hello',
}: Report & { type?: string; originalFrom?: string }): string {
  return lines(
    'From: <feedback@mailbox.example>',
    `To: ${to}`,
    'Subject: FW: Hello',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="report"',
    '',
    '--report',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'This is an abuse report.',
    '--report',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: SomeGenerator/1.0',
    'Version: 1',
    ...(originalFrom ? [`Original-Mail-From: <${originalFrom}>`] : []),
    'Original-Rcpt-To: <user@example.com>',
    '',
    '--report',
    'Content-Type: message/rfc822',
    '',
    headers,
    '',
    'Hello',
    '--report--',
    '',
  );
}
