import { type LinkSettings, MailLinks } from '../../services/emails/links.ts';

export const testLinkSettings: LinkSettings = {
  baseUrl: 'http://app.test',
  secretKeys: ['everpost-development-secret-key'],
};

/** Creates links that the API of `startTestApi` accepts. */
export const testLinks = new MailLinks(testLinkSettings);
