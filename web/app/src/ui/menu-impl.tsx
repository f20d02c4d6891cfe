import { Checkbox, Menu } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { t } from '../texts/index.ts';
import type { MenuButtonProps } from './menu-button.tsx';

/** Opens as soon as it is loaded: the user has just pressed its button. */
export function OpenMenu({ items, children, position = 'bottom-end', width, keepOpen = false }: MenuButtonProps) {
  const [opened, setOpened] = useState(true);
  return (
    <Menu
      opened={opened}
      onChange={setOpened}
      position={position}
      width={width}
      closeOnItemClick={!keepOpen}
      returnFocus
      withinPortal
    >
      <Menu.Target>{children({})}</Menu.Target>
      <Menu.Dropdown mah="80vh" style={{ overflowY: 'auto' }}>
        {items.map((item) => {
          if (item.kind === 'divider') return <Menu.Divider key={item.key} />;
          if (item.kind === 'label')
            return (
              <Menu.Label key={item.key} className="breakable">
                {item.label}
              </Menu.Label>
            );
          const { key, label, icon, onClick, danger, checked, current } = item;
          return (
            <Menu.Item
              key={key}
              leftSection={checked === undefined ? icon : <Checkbox.Indicator checked={checked} aria-hidden />}
              rightSection={current ? <IconCheck size={16} aria-hidden /> : undefined}
              color={danger ? 'red' : undefined}
              onClick={onClick}
              {...(checked !== undefined && { role: 'menuitemcheckbox', 'aria-checked': checked })}
              {...(current !== undefined && { role: 'menuitemradio', 'aria-checked': current })}
            >
              <span className="breakable">{label}</span>
            </Menu.Item>
          );
        })}
        {items.length === 0 && <Menu.Label>{t.common.none}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}
