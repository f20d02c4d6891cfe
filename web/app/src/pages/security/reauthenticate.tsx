import { PasswordInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactElement, useRef, useState } from 'react';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useMe } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { FormBody } from '../../ui/form-dialog.tsx';

const isWanted = (error: unknown): boolean =>
  error instanceof ApiProblem && error.details.confirmationRequired === true;

interface Reauthentication {
  /** Runs an act. If the API asks for a new confirmation, asks the user for it, and runs the act again. */
  confirmed<T>(act: () => Promise<T>): Promise<T>;
  /** Must be part of the page. */
  dialog: ReactElement;
}

/** For acts that need a confirmation of the last 15 minutes. */
export function useReauthentication(): Reauthentication {
  const [opened, setOpened] = useState(false);
  const settle = useRef<(isProven: boolean) => void>(() => {});
  const close = (isProven: boolean) => {
    setOpened(false);
    settle.current(isProven);
  };
  const ask = () =>
    new Promise<boolean>((resolve) => {
      settle.current = resolve;
      setOpened(true);
    });
  return {
    confirmed: async (act) => {
      try {
        return await act();
      } catch (error) {
        if (!isWanted(error) || !(await ask())) throw error;
        return act();
      }
    },
    dialog: <ProofDialog opened={opened} onClose={() => close(false)} onProven={() => close(true)} />,
  };
}

interface ProofDialogProps {
  opened: boolean;
  onClose(): void;
  onProven(): void;
}

function ProofDialog({ opened, onClose, onProven }: ProofDialogProps) {
  const { data: me } = useMe();
  const form = useForm({ initialValues: { given: '' } });
  const byCode = me?.totpEnabled === true;
  const prove = useAction({
    run: (given: string) =>
      unwrap(accountApi.POST('/auth/confirm', { body: byCode ? { code: given.trim() } : { password: given } })),
    onDone: () => {
      form.reset();
      onProven();
    },
    quiet: true,
  });
  const field = { required: true, 'data-autofocus': true, ...form.getInputProps('given') };
  return (
    <Dialog opened={opened} onClose={onClose} title={t.security.reauthTitle}>
      {me && !me.hasPassword && !byCode ? (
        <Text>{t.security.reauthProvider}</Text>
      ) : (
        <FormBody
          intro={<Text>{t.security.reauthText}</Text>}
          error={prove.error}
          busy={prove.isPending}
          submit={t.security.reauthConfirm}
          onSubmit={form.onSubmit(({ given }) => prove.mutate(given))}
          onCancel={onClose}
        >
          {byCode ? (
            <TextInput
              label={t.security.reauthCode}
              description={t.security.codeHint}
              autoComplete="one-time-code"
              {...field}
            />
          ) : (
            <PasswordInput
              label={t.security.reauthPassword}
              autoComplete="current-password"
              visibilityToggleButtonProps={{ 'aria-label': t.account.showTyped }}
              {...field}
            />
          )}
        </FormBody>
      )}
    </Dialog>
  );
}
