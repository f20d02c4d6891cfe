import { Modal } from '@mantine/core';
import { t } from '../texts/index.ts';
import type { DialogProps } from './dialog.tsx';

export const DialogImpl = ({ opened, onClose, title, children, closedByButtonOnly = false }: DialogProps) => (
  <Modal
    opened={opened}
    onClose={onClose}
    title={title}
    withCloseButton={!closedByButtonOnly}
    closeOnEscape={!closedByButtonOnly}
    closeOnClickOutside={!closedByButtonOnly}
    closeButtonProps={{ 'aria-label': t.common.close }}
    // Its element would be a second banner of the page.
    attributes={{ header: { role: 'presentation' } }}
  >
    {children}
  </Modal>
);
