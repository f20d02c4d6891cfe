import { type ComponentProps, lazy, Suspense, useEffect, useState } from 'react';

const Loaded = lazy(() => import('./convert-dialog.tsx').then(({ ConvertDialog }) => ({ default: ConvertDialog })));

/** The dialog of a conversion, whose code is loaded when it is opened first. */
export function ConvertDialog(props: ComponentProps<typeof Loaded>) {
  const [wanted, setWanted] = useState(props.opened);
  useEffect(() => {
    if (props.opened) setWanted(true);
  }, [props.opened]);
  return wanted ? (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  ) : null;
}
