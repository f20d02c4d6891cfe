import { Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../../texts/index.ts';
import { Gallery, type StartContent } from './gallery.tsx';

interface GalleryDialogProps {
  opened: boolean;
  onClose(): void;
  onChoose(start: StartContent): void;
  /** What else to begin with. */
  children?: ReactNode;
}

/** The gallery over a page that has a content already, which the choice replaces. */
export const GalleryDialog = ({ opened, onClose, onChoose, children }: GalleryDialogProps) => (
  <Modal
    opened={opened}
    onClose={onClose}
    title={t.editor.galleryTitle}
    size="70rem"
    closeButtonProps={{ 'aria-label': t.common.close }}
    attributes={{ header: { role: 'presentation' } }}
  >
    <Stack gap="lg">
      <Text>{t.editor.galleryReplaces}</Text>
      {children}
      <Gallery
        onChoose={(start) => {
          onChoose(start);
          onClose();
        }}
      />
    </Stack>
  </Modal>
);
