// The pages of the documentation site. What is not listed here is for maintainers and stays in the repository.

export interface Page {
  /** The file in `docs/`, without its extension. */
  file: string;
  text: string;
  /** Looked up and not read from top to bottom, so it may be longer than ten minutes. */
  isReference?: true;
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
      guide('windows', 'Windows with WSL'),
    ],
  },
  {
    text: 'Reach many',
    pages: [
      guide('import', 'Import'),
      guide('topics', 'Topics and preferences'),
      guide('forms', 'Forms and double opt-in'),
      guide('segments', 'Segments'),
      guide('visual-editor', 'Visual editor'),
      guide('brand', 'Brand and saved blocks'),
      guide('campaigns', 'Campaigns'),
      guide('the-right-moment', 'The right moment'),
      guide('follow-ups', 'Write to those who did not open'),
      guide('workflows', 'Workflows'),
      guide('simulation-and-cases', 'Simulation and cases'),
    ],
  },
  {
    text: 'Be received',
    pages: [
      guide('deliverability', 'Deliverability for beginners'),
      guide('domains', 'Domains and deliverability'),
      guide('hosted-pages', 'Hosted pages and translations'),
    ],
  },
  {
    text: 'Integrate',
    pages: [
      { file: 'client', text: 'TypeScript client' },
      { file: 'mcp', text: 'MCP server' },
      guide('email-as-json', 'Write an email as JSON'),
      guide('webhooks', 'Webhooks'),
      guide('keys-and-security', 'Keys and security'),
      guide('errors-and-limits', 'Errors and limits'),
      guide('idempotency', 'Idempotency'),
    ],
  },
  {
    text: 'Move to Everpost',
    pages: [
      guide('migration', 'From Plunk'),
      guide('from-listmonk', 'From listmonk'),
      guide('from-resend', 'From Resend'),
    ],
  },
  {
    text: 'Operate',
    pages: [
      guide('self-hosting', 'Self-hosting'),
      { file: 'settings', text: 'Settings', isReference: true },
      { file: 'operations', text: 'Operations', isReference: true },
      { file: 'capacity', text: 'Capacity', isReference: true },
      guide('upgrade-and-backup', 'Upgrade and backup'),
      guide('monitoring', 'Monitoring'),
      guide('troubleshooting', 'Troubleshooting'),
      { file: 'sending', text: 'How email is sent' },
    ],
  },
  {
    text: 'Trust',
    pages: [
      { file: 'reliability', text: 'Reliability' },
      { file: 'proof-results', text: 'Proof results' },
      { file: 'security', text: 'Security model' },
      { file: 'stored-data', text: 'Stored data and privacy' },
    ],
  },
  {
    text: 'Decide',
    pages: [
      guide('comparison', 'Comparison'),
      { file: 'glossary', text: 'Glossary', isReference: true },
      { file: 'changelog', text: 'Changelog', isReference: true },
    ],
  },
];

/** Every page, with those that the menu reaches by its headings. */
export const pageFiles: string[] = [
  'index',
  'guides/index',
  'api',
  ...sections.flatMap(({ pages }) => pages.map(({ file }) => file)),
];
