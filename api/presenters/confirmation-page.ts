import type { Confirmation } from '../../services/forms/confirm.ts';
import { type ConfirmationForm, confirmationPage } from '../../web/confirmation-page.ts';
import { type ConfirmationTexts, confirmationTexts } from '../../web/confirmation-texts.ts';
import type { PageBrand } from '../../web/pages.ts';
import { preferencesTexts } from '../../web/preferences-texts.ts';
import type { Answer } from '../http/answers.ts';

export interface ConfirmationView {
  confirmation: Confirmation;
  token: string;
  brand: PageBrand | undefined;
  /** Of the contact, once there is one. */
  manageUrl: string | undefined;
  /** The browser is the one in which the form was sent. */
  isKnown: boolean;
}

const GONE = 410;

/** What the link leads to, in the state that the submission is in. */
export function presentConfirmation(view: ConfirmationView, hint?: 'sentAgain' | 'chooseOne'): Answer {
  const { confirmation, token } = view;
  const { status, redirects, hasAddress, formId, mode, topics } = confirmation;
  const texts = confirmationTexts[confirmation.language];
  if (hint === 'sentAgain') return show(view, 200, 'sentAgain', 'sentAgainText', [], true);
  switch (status) {
    case 'PENDING': {
      const hasBoxes = mode === 'BUTTON' && topics.length > 1;
      const ask: ConfirmationForm = {
        action: `../confirm/${token}`,
        button: texts.confirm,
        confirmsItself: mode === 'LINK',
        ...(hasBoxes && { topics, fields: { boxes: '1' } }),
        ...(hint && { text: texts[hint] }),
      };
      return show(view, 200, 'ask', 'askText', [ask]);
    }
    case 'CONFIRMED':
      return redirectTo(redirects.confirmed) ?? show(view, 200, 'confirmed', 'confirmedText', [], true);
    case 'ALREADY':
      return redirectTo(redirects.already) ?? show(view, 200, 'confirmed', 'confirmedText', [], true);
    case 'DECLINED':
      return show(view, GONE, 'expired', 'expiredText', []);
    default: {
      const again: ConfirmationForm = {
        action: `../confirm/${token}`,
        button: texts.sendAgain,
        fields: { again: '1' },
      };
      const mayAsk = hasAddress && formId !== null && status === 'EXPIRED';
      return redirectTo(redirects.expired) ?? show(view, GONE, 'expired', 'expiredText', mayAsk ? [again] : []);
    }
  }
}

/** The page to decline, or what has become of the submission. */
export function presentDecline(view: ConfirmationView): Answer {
  const { confirmation, token } = view;
  const { status, redirects } = confirmation;
  const texts = confirmationTexts[confirmation.language];
  if (status === 'CONFIRMED' || status === 'ALREADY') return show(view, 200, 'confirmed', 'isConfirmed', []);
  if (status === 'DECLINED')
    return redirectTo(redirects.declined) ?? show(view, 200, 'declined', 'declinedText', [], true);
  const form: ConfirmationForm = { action: `../decline/${token}`, button: texts.decline };
  return show(view, 200, 'askDecline', 'askDeclineText', [form]);
}

const redirectTo = (url: string | null | undefined): Answer | undefined =>
  url
    ? { status: 303, headers: { Location: url, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' } }
    : undefined;

function show(
  { confirmation, brand, manageUrl, isKnown }: ConfirmationView,
  status: number,
  title: keyof ConfirmationTexts,
  text: keyof ConfirmationTexts,
  forms: ConfirmationForm[],
  done = false,
): Answer {
  const { language, name, redirects } = confirmation;
  const texts = confirmationTexts[language];
  const origins = Object.values(redirects).flatMap((url) => (url ? [new URL(url).origin] : []));
  const page = confirmationPage(
    {
      language,
      brand,
      title: texts[title],
      paragraphs: [texts[text].replace('{name}', () => name)],
      done,
      forms,
      ...(manageUrl && forms.length === 0 && { link: { href: manageUrl, text: texts.manage } }),
      privacyText: preferencesTexts[language].privacy,
    },
    isKnown,
    [...new Set(origins)],
  );
  return { status, ...page };
}
