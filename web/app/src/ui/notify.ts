import type { NotificationData } from '@mantine/notifications';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';

/** Messages that wait until the code that shows them is loaded. */
const waiting: NotificationData[] = [];
let shown: ((notice: NotificationData) => void) | undefined;
let wake: () => void = () => {};

/** Called once by the host: `onFirst` loads what shows messages. */
export const onFirstNotice = (onFirst: () => void): void => {
  wake = onFirst;
  if (waiting.length > 0) onFirst();
};

/** Shows what waits, and everything from now on. */
export function showWith(show: (notice: NotificationData) => void): void {
  shown = show;
  for (const notice of waiting.splice(0)) show(notice);
}

function notify(notice: NotificationData): void {
  const complete = { closeButtonProps: { 'aria-label': t.common.close }, ...notice };
  if (shown) shown(complete);
  else {
    waiting.push(complete);
    wake();
  }
}

export const showDone = (message: string): void => notify({ message, color: 'teal' });

export const showProblem = (error: unknown): void =>
  notify({ title: t.errors.title, message: messageOf(error), color: 'red', autoClose: 10_000 });
