import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';

export interface DialogProps {
  opened: boolean;
  onClose(): void;
  title: string;
  children: ReactNode;
  /** Only a button in the dialog closes it: Escape or a click beside it would lose what it shows once. */
  closedByButtonOnly?: boolean;
}

const DialogImpl = lazy(() => import('./dialog-impl.tsx').then(({ DialogImpl }) => ({ default: DialogImpl })));

/** A modal dialog; its code is loaded when the first one is opened. */
export function Dialog(props: DialogProps) {
  const [wanted, setWanted] = useState(props.opened);
  useEffect(() => {
    if (props.opened) setWanted(true);
  }, [props.opened]);
  return wanted ? (
    <Suspense>
      <DialogImpl {...props} />
    </Suspense>
  ) : null;
}

interface ConfirmProps {
  opened: boolean;
  onClose(): void;
  title: string;
  /** Names what the action destroys or starts. */
  children: ReactNode;
  confirm: string;
  /** The button that leaves everything as it is; never the same word as `confirm`. */
  keep?: string;
  onConfirm(): Promise<unknown>;
  danger?: boolean;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({ opened, onClose, title, children, confirm, keep, onConfirm, danger }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (opened) setError(undefined);
  }, [opened]);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text component="div" className="breakable">
          {children}
        </Text>
        {error !== undefined && <Alert color="red">{messageOf(error)}</Alert>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {keep ?? t.common.cancel}
          </Button>
          <Button color={danger ? 'red.8' : undefined} onClick={() => void run()} loading={busy}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

interface ConfirmButtonProps extends Omit<ConfirmProps, 'opened' | 'onClose'> {
  label: string;
  /** Names what it is about where several buttons have the same label. */
  ariaLabel?: string;
  icon?: ReactNode;
  variant?: string;
  size?: string;
  disabled?: boolean;
}

export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, ariaLabel, icon, variant = 'default', size, disabled, ...dialog } = props;
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        aria-label={ariaLabel}
        // Quiet, so that it is found and not pressed by mistake; the dialog's own button is loud.
        variant={dialog.danger ? 'subtle' : variant}
        size={size}
        leftSection={icon}
        onClick={open}
        disabled={disabled}
        flex="none"
        color={dialog.danger ? 'red' : undefined}
      >
        {label}
      </Button>
      <ConfirmDialog {...dialog} opened={opened} onClose={close} />
    </>
  );
}
