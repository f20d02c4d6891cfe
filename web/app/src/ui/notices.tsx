import { lazy, Suspense, useEffect, useState } from 'react';
import { onFirstNotice } from './notify.ts';

const NoticeList = lazy(() => import('./notices-impl.tsx').then(({ NoticeList }) => ({ default: NoticeList })));

/** The place of messages; empty, and not even loaded, until the first one. */
export function Notices() {
  const [wanted, setWanted] = useState(false);
  useEffect(() => onFirstNotice(() => setWanted(true)), []);
  return wanted ? (
    <Suspense>
      <NoticeList />
    </Suspense>
  ) : null;
}
