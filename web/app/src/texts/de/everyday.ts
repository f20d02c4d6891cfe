import type { EverydayTopic, Texts } from '../index.ts';
import { account } from './account.ts';
import { campaigns } from './campaigns.ts';
import { contacts } from './contacts.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { home } from './home.ts';
import { imports } from './imports.ts';
import { segments } from './segments.ts';
import { templates } from './templates.ts';

/** Of the pages that most visits begin with; they wait for no other texts. */
export const everyday: Pick<Texts, EverydayTopic> = {
  account,
  home,
  contacts,
  imports,
  segments,
  templates,
  campaigns,
  domains,
  emails,
};
