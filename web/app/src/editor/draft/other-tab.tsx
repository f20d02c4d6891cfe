import { Alert } from '@mantine/core';
import { useEffect, useState } from 'react';
import { t } from '../../texts/index.ts';

/** Says that another tab of this browser edits the same. The tab that was first holds a lock, which ends with it. */
export function OtherTabNotice({ name }: { name: string }) {
  const isElsewhere = useOtherTab(name);
  return isElsewhere ? (
    <Alert color="yellow" role="status" title={t.editor.otherTabTitle}>
      {t.editor.otherTabText}
    </Alert>
  ) : null;
}

function useOtherTab(name: string): boolean {
  const [isElsewhere, setElsewhere] = useState(false);
  useEffect(() => {
    // Browsers have locks in secure contexts only.
    const locks = navigator.locks as LockManager | undefined;
    if (!locks) return undefined;
    const leaving = new AbortController();
    const lock = `everpost.editing.${name}`;
    const hold = () =>
      new Promise<void>((release) => {
        setElsewhere(false);
        leaving.signal.addEventListener('abort', () => release());
      });
    const take = async () => {
      const isTaken = await locks.request(lock, { ifAvailable: true }, async (free) => {
        if (free && !leaving.signal.aborted) await hold();
        return !free;
      });
      if (!isTaken || leaving.signal.aborted) return;
      setElsewhere(true);
      await locks.request(lock, { signal: leaving.signal }, hold);
    };
    // Aborted when the page is left while it waits.
    void take().catch(() => {});
    return () => leaving.abort();
  }, [name]);
  return isElsewhere;
}
