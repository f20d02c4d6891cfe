import { type ButtonForm, type Page, type RenderedPage, render } from './pages.ts';

/** A form of the page, with a box per topic where there are some. */
export interface ConfirmationForm extends ButtonForm {
  topics?: { id: string; name: string }[];
  /** Sent by the script once it detects a person. */
  confirmsItself?: boolean;
}

export interface ConfirmationPage extends Page {
  paragraphs: string[];
  /** The first paragraph says what was done. */
  done: boolean;
  forms: ConfirmationForm[];
  link?: { href: string; text: string } | undefined;
  privacyText: string;
}

/**
 * Sends the form when a person moves the pointer, touches, types or turns the wheel in a visible page, or at once where
 * the visitor is known. Scanners that run scripts do none of it. A browser without a pointer on it reports a pointer in
 * the corner when a page is shown, which is no movement; scrolling counts by what causes it, because scripts can scroll too.
 */
const confirmScript = (isKnown: boolean): string => `(function () {
  var form = document.getElementById('confirm'), sent = false;
  function send() {
    if (sent || document.visibilityState !== 'visible') return;
    sent = true;
    form.submit();
  }
  function onPerson(event) { if (event.isTrusted) send(); }
  addEventListener('pointermove', function (event) { if (event.clientX || event.clientY) onPerson(event); }, { passive: true });
  ['pointerdown', 'touchstart', 'keydown', 'wheel'].forEach(function (name) {
    addEventListener(name, onPerson, { passive: true });
  });
  ${isKnown ? "send(); document.addEventListener('visibilitychange', send);" : ''}
})();`;

/** A page behind a link of a confirmation email. */
export function confirmationPage(
  page: ConfirmationPage,
  isKnown: boolean,
  redirects: string[] = [],
  frameAncestors: string[] = [],
): RenderedPage {
  const hasScript = page.forms.some(({ confirmsItself }) => confirmsItself);
  return render(
    'confirmation.njk',
    { ...page, script: hasScript ? confirmScript(isKnown) : '' },
    { ...(hasScript && { script: true as const }), formAction: redirects, frameAncestors },
  );
}
