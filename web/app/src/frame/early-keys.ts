// The palette is loaded when it is first opened. What is typed meanwhile is kept for its field.

const MAX_MS = 10_000;

export interface EarlyKeys {
  text: string;
  /** Whether Enter was pressed after the text. */
  isEntered: boolean;
}

let typed = '';
let isEntered = false;
let stop: (() => void) | undefined;

/** Keeps what is typed until `takeEarlyKeys`. */
export function keepEarlyKeys(): void {
  if (stop) return;
  typed = '';
  isEntered = false;
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return finish();
    if (event.key === 'Backspace') typed = typed.slice(0, -1);
    else if (event.key === 'Enter') isEntered = true;
    else if (event.key.length === 1) typed += event.key;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // A palette that could not be loaded must not take the keys of the page.
  const timer = setTimeout(finish, MAX_MS);
  function finish() {
    clearTimeout(timer);
    window.removeEventListener('keydown', onKey, true);
    stop = undefined;
  }
  window.addEventListener('keydown', onKey, true);
  stop = finish;
}

export function takeEarlyKeys(): EarlyKeys {
  stop?.();
  const early = { text: typed, isEntered };
  typed = '';
  isEntered = false;
  return early;
}
