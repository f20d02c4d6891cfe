import type { Language } from '../../platform/languages.ts';
import { type PageBrand, preferencesRequestPage } from '../../web/pages.ts';
import { preferencesRequestTexts } from '../../web/preferences-request-texts.ts';
import { preferencesTexts } from '../../web/preferences-texts.ts';
import type { Answer } from '../http/answers.ts';

/** What the page answers. */
export type PreferencesRequest = { state: 'asks' | 'badAddress' | 'sent' } | { state: 'tooMany'; seconds: number };

const statuses = { asks: 200, sent: 200, badAddress: 422, tooMany: 429 } as const;

export function presentPreferencesRequest(
  language: Language,
  brand: PageBrand | undefined,
  request: PreferencesRequest,
): Answer {
  const { state } = request;
  const texts = preferencesRequestTexts[language];
  const isSent = state === 'sent';
  const { body, headers } = preferencesRequestPage({
    language,
    brand,
    title: isSent ? texts.sentTitle : texts.title,
    text: isSent ? texts.sent : texts.text,
    done: isSent,
    ...(!isSent && { form: { label: texts.address, button: texts.send } }),
    ...((state === 'badAddress' || state === 'tooMany') && { formError: texts[state] }),
    privacyText: preferencesTexts[language].privacy,
  });
  const wait: Record<string, string> = 'seconds' in request ? { 'Retry-After': String(request.seconds) } : {};
  return { status: statuses[state], body, headers: { ...headers, ...wait } };
}
