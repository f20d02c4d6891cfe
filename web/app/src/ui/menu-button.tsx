import { lazy, type ReactElement, type ReactNode, Suspense, useState } from 'react';

export type MenuEntry =
  | { kind: 'divider'; key: string }
  | { kind: 'label'; key: string; label: string }
  | {
      kind?: undefined;
      key: string;
      label: string;
      icon?: ReactNode;
      onClick(): void;
      danger?: boolean;
      /** One of several that can be on. */
      checked?: boolean;
      /** The chosen one of several. */
      current?: boolean;
    };

interface TargetProps {
  onClick?: () => void;
  'aria-haspopup'?: 'menu';
  'aria-expanded'?: boolean;
}

export interface MenuButtonProps {
  items: MenuEntry[];
  /** The button; it must pass the given properties on. */
  children(props: TargetProps): ReactElement;
  position?: 'bottom-end' | 'bottom-start';
  width?: number | 'target';
  /** Stays open after a choice. */
  keepOpen?: boolean;
}

const OpenMenu = lazy(() => import('./menu-impl.tsx').then(({ OpenMenu }) => ({ default: OpenMenu })));

/** A button with a menu. The code that places menus is loaded when the first one is opened. */
export function MenuButton(props: MenuButtonProps) {
  const [wanted, setWanted] = useState(false);
  const button = props.children({
    onClick: () => setWanted(true),
    'aria-haspopup': 'menu',
    'aria-expanded': false,
  });
  if (!wanted) return button;
  return (
    <Suspense fallback={button}>
      <OpenMenu {...props} />
    </Suspense>
  );
}
