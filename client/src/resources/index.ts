import type { RawClient } from '../raw-client.ts';
import { campaigns } from './campaigns.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { events } from './events.ts';
import { jobs } from './jobs.ts';
import { segments } from './segments.ts';
import { suppressions } from './suppressions.ts';
import { templates } from './templates.ts';
import { webhooks } from './webhooks.ts';
import { workflows } from './workflows.ts';

export const resources = (client: RawClient) => ({
  campaigns: campaigns(client),
  contacts: contacts(client),
  domains: domains(client),
  emails: emails(client),
  events: events(client),
  jobs: jobs(client),
  segments: segments(client),
  suppressions: suppressions(client),
  templates: templates(client),
  webhooks: webhooks(client),
  workflows: workflows(client),
});

export type Resources = ReturnType<typeof resources>;
