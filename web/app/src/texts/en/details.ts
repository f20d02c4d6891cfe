import { conditionTexts } from './condition-texts.ts';
import { contactLists } from './contact-lists.ts';
import { domains } from './domains.ts';
import { outcomes } from './outcomes.ts';
import { results } from './results.ts';
import { testMail } from './test-mail.ts';
import { timing } from './timing.ts';

/** Texts of lists, conditions and results, which pages about people and email show, and no others. */
export const details = { conditionTexts, contactLists, domains, outcomes, results, testMail, timing };
