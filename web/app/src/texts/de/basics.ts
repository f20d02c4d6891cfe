import type { BasicTopic, Texts } from '../index.ts';
import { account } from './account.ts';
import { campaigns } from './campaigns.ts';
import { contacts } from './contacts.ts';
import { emails } from './emails.ts';
import { home } from './home.ts';
import { imports } from './imports.ts';
import { segments } from './segments.ts';
import { glossary, pickers } from './shared.ts';
import { templates } from './templates.ts';

export const basics: Pick<Texts, BasicTopic> = {
  account,
  home,
  contacts,
  imports,
  segments,
  templates,
  campaigns,
  emails,
  glossary,
  pickers,
};
