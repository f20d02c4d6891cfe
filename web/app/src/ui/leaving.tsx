import { Button, Group, Stack, Text } from '@mantine/core';
import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { t } from '../texts/index.ts';
import { Dialog } from './dialog.tsx';

/** Asks the user whether to leave the page; `LeaveDialog` sets it. */
const question = { ask: (): Promise<boolean> => Promise.resolve(true) };

/**
 * Asks before a page with unsaved work is left: by a link, by the browser's buttons, or by closing the tab. Code that
 * navigates because the work is saved or deleted passes `ignoreBlocker`.
 */
export function useWarnBeforeLeaving(unsaved: boolean): void {
  useBlocker({ shouldBlockFn: userStays, disabled: !unsaved });
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
  useEffect(() => {
    question.ask = () => new Promise((resolve) => setAnswer(() => resolve));
  }, []);
  const close = (leave: boolean) => {
    answer?.(leave);
    setAnswer(undefined);
  };
  return (
    <Dialog opened={answer !== undefined} onClose={() => close(false)} title={t.common.leaveTitle}>
      <Stack>
        <Text>{t.common.leaveText}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => close(false)} data-autofocus>
            {t.common.stay}
          </Button>
          <Button color="red.8" onClick={() => close(true)}>
            {t.common.leave}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
