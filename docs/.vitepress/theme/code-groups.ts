// Shows all examples of a page in the language that was chosen for one of them, and remembers it.
const STORAGE_NAME = 'everpost-example-language';
const GROUP = '.vp-code-group';

export function rememberLanguage(): void {
  addEventListener('change', ({ target }) => {
    const group = target instanceof HTMLInputElement ? target.closest(GROUP) : undefined;
    const language = group && languageOf(target as HTMLInputElement);
    if (!language) return;
    localStorage.setItem(STORAGE_NAME, language);
    const top = group.getBoundingClientRect().top;
    showLanguage(language);
    // Groups above may have changed their height.
    scrollBy({ top: group.getBoundingClientRect().top - top, behavior: 'instant' });
  });
}

export function showRememberedLanguage(): void {
  const language = localStorage.getItem(STORAGE_NAME);
  if (language) showLanguage(language);
}

function showLanguage(language: string): void {
  for (const group of document.querySelectorAll(GROUP)) {
    const inputs = [...group.querySelectorAll('input')];
    const chosen = inputs.findIndex((input) => languageOf(input) === language);
    const blocks = group.querySelector('.blocks')?.children ?? [];
    const input = inputs[chosen];
    const block = blocks[chosen];
    if (!input || !block) continue;
    input.checked = true;
    for (const other of blocks) other.classList.toggle('active', other === block);
  }
}

const languageOf = (input: HTMLInputElement): string => input.labels?.[0]?.textContent?.trim() ?? '';
