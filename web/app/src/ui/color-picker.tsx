import '@mantine/core/styles/ColorPicker.css';
import { ColorPicker, Popover } from '@mantine/core';
import { useState } from 'react';
import { t } from '../texts/index.ts';
import type { ColorButtonProps } from './color-button.tsx';

/** Opens as soon as it is loaded: the user has just pressed its button. */
export function OpenColorPicker({ value, onChange, children }: ColorButtonProps) {
  const [opened, setOpened] = useState(true);
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus withinPortal>
      <Popover.Target>
        {children({ onClick: () => setOpened(!opened), 'aria-haspopup': 'dialog', 'aria-expanded': opened })}
      </Popover.Target>
      <Popover.Dropdown p="sm">
        <ColorPicker
          format="hex"
          value={value}
          onChange={(color) => onChange(color.toLowerCase())}
          saturationLabel={t.pickers.saturation}
          hueLabel={t.pickers.hue}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
