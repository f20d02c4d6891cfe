import type { DetailTopic, Texts } from '../index.ts';
import { conditionTexts } from './condition-texts.ts';
import { contactLists } from './contact-lists.ts';
import { domains } from './domains.ts';
import { outcomes } from './outcomes.ts';
import { results } from './results.ts';
import { testMail } from './test-mail.ts';
import { timing } from './timing.ts';

export const details: Pick<Texts, DetailTopic> = {
  conditionTexts,
  contactLists,
  domains,
  outcomes,
  results,
  testMail,
  timing,
};
