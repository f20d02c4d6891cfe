import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';

const loadQuestion = () => import('./leave-question.tsx').then(({ LeaveQuestion }) => ({ default: LeaveQuestion }));
const LeaveQuestion = lazy(loadQuestion);

/** Asks the user whether to leave the page; `LeaveDialog` sets it. */
const question = { ask: (): Promise<boolean> => Promise.resolve(true) };

/**
 * Asks before a page with unsaved work is left: by a link, by the browser's buttons, or by closing the tab. Code that
 * navigates because the work is saved or deleted passes `ignoreBlocker`.
 */
export function useWarnBeforeLeaving(unsaved: boolean): void {
  useBlocker({ shouldBlockFn: userStays, disabled: !unsaved });
  // Loaded before it is needed: the connection may be lost by then.
  useEffect(() => {
    if (unsaved) loadQuestion().catch(() => {});
  }, [unsaved]);
}

const userStays: ShouldBlockFn = async ({ current, next }) => {
  if (current.pathname === next.pathname) return false;
  // Without a session nothing can be saved any more.
  if (!next.routeId.startsWith('/signed-in')) return false;
  return !(await question.ask());
};

/** The question of `useWarnBeforeLeaving`; one for the whole application. */
export function LeaveDialog() {
  const [answer, setAnswer] = useState<(leave: boolean) => void>();
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    question.ask = () =>
      new Promise((resolve) => {
        setWanted(true);
        setAnswer(() => resolve);
      });
  }, []);
  const close = (leave: boolean) => {
    answer?.(leave);
    setAnswer(undefined);
  };
  return wanted ? (
    <Suspense>
      <LeaveQuestion opened={answer !== undefined} onAnswer={close} />
    </Suspense>
  ) : null;
}
