import type { RawClient } from '../raw-client.ts';
import { brandKit } from './brandKit.ts';
import { campaigns } from './campaigns.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { events } from './events.ts';
import { forms } from './forms.ts';
import { jobs } from './jobs.ts';
import { savedBlocks } from './savedBlocks.ts';
import { segments } from './segments.ts';
import { suppressions } from './suppressions.ts';
import { templates } from './templates.ts';
import { topics } from './topics.ts';
import { views } from './views.ts';
import { webhooks } from './webhooks.ts';
import { workflows } from './workflows.ts';

export const resources = (client: RawClient) => ({
  brandKit: brandKit(client),
  campaigns: campaigns(client),
  contacts: contacts(client),
  domains: domains(client),
  emails: emails(client),
  events: events(client),
  forms: forms(client),
  jobs: jobs(client),
  savedBlocks: savedBlocks(client),
  segments: segments(client),
  suppressions: suppressions(client),
  templates: templates(client),
  topics: topics(client),
  views: views(client),
  webhooks: webhooks(client),
  workflows: workflows(client),
});

export type Resources = ReturnType<typeof resources>;
