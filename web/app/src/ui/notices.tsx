import { lazy, Suspense, useEffect, useState } from 'react';
import { onFirstNotice } from './notify.ts';

const load = () => import('./notices-impl.tsx').then(({ NoticeList }) => ({ default: NoticeList }));
const NoticeList = lazy(load);
/** Leaves the first page the connection to itself. */
const PRELOAD_MS = 2_000;

/** The place of messages; empty until the first one. */
export function Notices() {
  const [wanted, setWanted] = useState(false);
  // A message waits for the next one if the code that shows it cannot be loaded.
  useEffect(() => onFirstNotice(() => void load().then(() => setWanted(true), ignore)), []);
  // The first message may be that the server cannot be reached.
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(ignore), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return wanted ? (
    <Suspense>
      <NoticeList />
    </Suspense>
  ) : null;
}

const ignore = (): void => {};
