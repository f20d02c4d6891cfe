import { MailLinks } from '../../services/emails/links.ts';

/** Creates links that the API of `startTestApi` accepts. */
export const testLinks = new MailLinks({
  baseUrl: 'http://app.test',
  secretKeys: ['everpost-development-secret-key'],
});
