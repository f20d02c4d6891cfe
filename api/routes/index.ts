import type { AppParts } from '../http/context.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import type { RouteGroup } from '../http/route.ts';
import { auth } from './auth.ts';
import { campaignSending } from './campaign-sending.ts';
import { campaigns } from './campaigns.ts';
import { contactFields } from './contact-fields.ts';
import { contactJobs } from './contact-jobs.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { members } from './members.ts';
import { operations } from './operations.ts';
import { pages } from './pages.ts';
import { projects } from './projects.ts';
import { segments } from './segments.ts';
import { send } from './send.ts';
import { templates } from './templates.ts';
import { track } from './track.ts';
import { users } from './users.ts';
import { webhookSecrets } from './webhook-secret.ts';

/** Every route there is. `document` gives their description, which is made from this very list. */
export const routeGroups = (parts: AppParts, document: () => OpenApiDocument): RouteGroup[] => [
  send,
  emails,
  track,
  contacts,
  contactFields,
  contactJobs,
  templates,
  campaigns,
  campaignSending,
  segments,
  domains(parts),
  auth,
  users,
  projects,
  members,
  webhookSecrets,
  pages,
  operations(parts, document),
];
