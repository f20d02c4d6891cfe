import { lazy, type ReactElement, Suspense, useState } from 'react';

interface TargetProps {
  onClick(): void;
  'aria-haspopup': 'dialog';
  'aria-expanded': boolean;
}

export interface ColorButtonProps {
  value: string;
  onChange(value: string): void;
  /** The button; it must pass the given properties on. */
  children(props: TargetProps): ReactElement;
}

const OpenColorPicker = lazy(() =>
  import('./color-picker.tsx').then(({ OpenColorPicker }) => ({ default: OpenColorPicker })),
);

/** A button that opens a color picker. The code of the picker is loaded when the first one is opened. */
export function ColorButton(props: ColorButtonProps) {
  const [wanted, setWanted] = useState(false);
  const button = props.children({
    onClick: () => setWanted(true),
    'aria-haspopup': 'dialog',
    'aria-expanded': false,
  });
  if (!wanted) return button;
  return (
    <Suspense fallback={button}>
      <OpenColorPicker {...props} />
    </Suspense>
  );
}
