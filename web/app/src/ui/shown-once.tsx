import { Alert, Button, Group, Stack } from '@mantine/core';
import { Copyable } from './controls.tsx';
import { Dialog } from './dialog.tsx';

interface ShownOnceProps {
  title: string;
  text: string;
  /** Names the secret. */
  label: string;
  value: string;
  confirm: string;
  onClose(): void;
}

/** A secret that the API shows only once. */
export const ShownOnceDialog = ({ title, text, label, value, confirm, onClose }: ShownOnceProps) => (
  <Dialog opened closedByButtonOnly onClose={onClose} title={title}>
    <Stack>
      <Alert color="yellow">{text}</Alert>
      <Copyable value={value} label={label} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{confirm}</Button>
      </Group>
    </Stack>
  </Dialog>
);
