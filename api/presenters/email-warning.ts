import { namedType, oneOf, optional, text, wholeNumber } from '../http/schemas.ts';

export const emailWarningSchema = namedType('EmailWarning', 'What may be wrong with an email.', {
  code: text().description('Warning code.').example('html_large'),
  level: oneOf('ERROR', 'WARNING', 'INFO').description('How serious it is. No warning keeps an email from being sent.'),
  message: text().description('What may be wrong.'),
  path: optional(text()).description('Place in the document.').example('content.2.attrs.alt'),
  line: optional(wholeNumber({ min: 1 })).description('Line of the body, from 1.'),
  detail: optional(text({ min: 0 })).description(
    'What the warning is about: the name of a variable, the contrast, or what was removed.',
  ),
});
