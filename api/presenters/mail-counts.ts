import { wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

/** What happened to mails; a mail counts once in each. */
export const mailCounts = () => ({
  sent: count(),
  delivered: count(),
  opened: count(),
  clicked: count(),
  bounced: count(),
  complained: count(),
  failed: count(),
});
