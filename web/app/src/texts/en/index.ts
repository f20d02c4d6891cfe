import { account } from './account.ts';
import { campaigns } from './campaigns.ts';
import { common } from './common.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { home } from './home.ts';
import { imports } from './imports.ts';
import { audit, billing, members, operator, project, security } from './people.ts';
import { segments } from './segments.ts';
import { templates } from './templates.ts';
import { workflows } from './workflows.ts';

export const en = {
  ...common,
  account,
  home,
  contacts,
  imports,
  segments,
  templates,
  campaigns,
  domains,
  emails,
  workflows,
  members,
  project,
  billing,
  security,
  audit,
  operator,
};
