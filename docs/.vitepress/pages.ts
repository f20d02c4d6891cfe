// The pages of the documentation site. What is not listed here is for maintainers and stays in the repository.

export interface Page {
  /** The file in `docs/`, without its extension. */
  file: string;
  text: string;
}

export interface Section {
  text: string;
  pages: Page[];
}

const guide = (name: string, text: string): Page => ({ file: `guides/${name}`, text });

export const sections: Section[] = [
  {
    text: 'Start',
    pages: [
      guide('first-mail', 'First mail'),
      guide('contacts-and-fields', 'Contacts and fields'),
      guide('track-and-automate', 'Track and automate'),
    ],
  },
  {
    text: 'Reach many',
    pages: [
      guide('import', 'Import'),
      guide('segments', 'Segments'),
      guide('campaigns', 'Campaigns'),
      guide('workflows', 'Workflows'),
      guide('simulation-and-cases', 'Simulation and cases'),
    ],
  },
  {
    text: 'Be received',
    pages: [guide('domains', 'Domains and deliverability'), guide('hosted-pages', 'Hosted pages and translations')],
  },
  {
    text: 'Integrate',
    pages: [
      { file: 'client', text: 'TypeScript client' },
      { file: 'mcp', text: 'MCP server' },
      guide('webhooks', 'Webhooks'),
      guide('keys-and-security', 'Keys and security'),
      guide('errors-and-limits', 'Errors and limits'),
      guide('idempotency', 'Idempotency'),
      guide('migration', 'Migration'),
    ],
  },
  {
    text: 'Operate',
    pages: [
      guide('self-hosting', 'Self-hosting'),
      { file: 'settings', text: 'Settings' },
      guide('upgrade-and-backup', 'Upgrade and backup'),
      guide('monitoring', 'Monitoring'),
      guide('troubleshooting', 'Troubleshooting'),
      { file: 'sending', text: 'How mail is sent' },
      { file: 'security', text: 'Security model' },
    ],
  },
  { text: 'Decide', pages: [guide('comparison', 'Comparison')] },
];

/** Every page, with those that the menu reaches by its headings. */
export const pageFiles: string[] = [
  'index',
  'guides/index',
  'api',
  ...sections.flatMap(({ pages }) => pages.map(({ file }) => file)),
];
