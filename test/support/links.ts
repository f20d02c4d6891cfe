import { MailLinks } from '../../services/emails/links.ts';

/** As the API of a test opens them (`startTestApi`). */
export const testLinks = new MailLinks({
  baseUrl: 'http://app.test',
  secretKeys: ['everpost-development-secret-key'],
});
