import { wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

/** What happened to mails; a mail counts once in each. */
export const mailCounts = () => ({
  sent: count(),
  delivered: count(),
  opened: count(),
  clicked: count(),
  /** By people; the two before include machines. */
  humanOpened: count(),
  humanClicked: count(),
  bounced: count(),
  complained: count(),
  failed: count(),
});
