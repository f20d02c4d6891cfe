import { Alert, Button, Group, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';
import { Dialog } from './dialog.tsx';

interface FormBodyProps {
  /** Above the fields, and above the API's refusal. */
  intro?: ReactNode;
  /** The fields. */
  children: ReactNode;
  error: Error | null;
  busy: boolean;
  submit: string;
  danger?: boolean;
  /** That of `useForm`: `form.onSubmit((values) => …)`. */
  onSubmit(event: FormEvent<HTMLFormElement>): void;
  onCancel(): void;
}

/** A form with the API's refusal above its fields, and the buttons that leave and send it below them. */
export function FormBody({ intro, children, error, busy, submit, danger, onSubmit, onCancel }: FormBodyProps) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    // A form in a dialog that another form opens must not send that one too: events of React pass through portals.
    event.stopPropagation();
    onSubmit(event);
  };
  return (
    <form onSubmit={send}>
      <Stack>
        {intro}
        {error && <Alert color="red">{messageOf(error)}</Alert>}
        {children}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {t.common.cancel}
          </Button>
          <Button type="submit" color={danger ? 'red.8' : undefined} loading={busy}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FormDialogProps extends Omit<FormBodyProps, 'onCancel'> {
  opened: boolean;
  title: string;
  onClose(): void;
}

export const FormDialog = ({ opened, title, onClose, ...form }: FormDialogProps) => (
  <Dialog opened={opened} onClose={onClose} title={title}>
    <FormBody {...form} onCancel={onClose} />
  </Dialog>
);
