import type { AppParts } from '../http/context.ts';
import type { RouteGroup } from '../http/route.ts';
import { contactFields } from './contact-fields.ts';
import { contactJobs } from './contact-jobs.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { operations } from './operations.ts';
import { segments } from './segments.ts';
import { send } from './send.ts';
import { templates } from './templates.ts';
import { track } from './track.ts';
import { users } from './users.ts';
import { webhookSecrets } from './webhook-secret.ts';

/** Every route there is. `document` gives their description, which is made from this very list. */
export const routeGroups = (parts: AppParts, document: () => object): RouteGroup[] => [
  send,
  emails,
  track,
  contacts,
  contactFields,
  contactJobs,
  templates,
  segments,
  domains(parts),
  users,
  webhookSecrets,
  operations(parts, document),
];
