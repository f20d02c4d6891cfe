import { account } from './account.ts';
import { activity } from './activity.ts';
import { analytics } from './analytics.ts';
import { campaigns } from './campaigns.ts';
import { common } from './common.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { home } from './home.ts';
import { imports } from './imports.ts';
import { notifications } from './notifications.ts';
import { segments } from './segments.ts';
import { templates } from './templates.ts';

export const en = {
  ...common,
  account,
  activity,
  analytics,
  notifications,
  home,
  contacts,
  imports,
  segments,
  templates,
  campaigns,
  domains,
  emails,
};
