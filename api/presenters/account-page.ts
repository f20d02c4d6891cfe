import type { ApiError } from '../../platform/errors.ts';
import { type AccountPage, accountPage, noticePage } from '../../web/pages.ts';
import type { Answer } from '../http/answers.ts';

/** The pages behind links in system mail. */
const LANGUAGE = 'en';

type Words<P> = Omit<P, 'language'>;

export const presentPageForm = (page: Words<AccountPage>, status = 200): Answer => ({
  status,
  ...accountPage({ language: LANGUAGE, ...page }),
});

export const presentNotice = (title: string, text: string, status = 200, link = 'Go to Everpost'): Answer => ({
  status,
  ...noticePage({ language: LANGUAGE, title, text, link: { href: '/app/', text: link } }),
});

/** For a form whose fields break rules before any page reads them. */
export const presentRefusedForm = ({ status, message, extras: { errors } }: ApiError): Answer =>
  presentNotice('The form cannot be used', errors?.map((error) => `${error.message}.`).join(' ') ?? message, status);

export const presentUselessLink = (): Answer =>
  presentNotice('This link no longer works', 'It was already used, has expired, or is incomplete.', 400);
