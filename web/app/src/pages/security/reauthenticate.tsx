import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { type ReactElement, useRef, useState } from 'react';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useMe } from '../../api/hooks.ts';
import { ApiProblem, messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';

const isWanted = (error: unknown): boolean =>
  error instanceof ApiProblem && error.details.confirmationRequired === true;

interface Reauthentication {
  /** Runs an act. If the API asks for a fresh proof, asks the user for it, and runs the act again. */
  confirmed<T>(act: () => Promise<T>): Promise<T>;
  /** Must be part of the page. */
  dialog: ReactElement;
}

/** For acts that need a proof of the last 15 minutes. */
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
  const [given, setGiven] = useState('');
  const byCode = me?.totpEnabled === true;
  const prove = useAction({
    run: () =>
      unwrap(accountApi.POST('/auth/confirm', { body: byCode ? { code: given.trim() } : { password: given } })),
    onDone: () => {
      setGiven('');
      onProven();
    },
    quiet: true,
  });
  const field = {
    value: given,
    required: true,
    'data-autofocus': true,
    onChange: (event: { currentTarget: { value: string } }) => setGiven(event.currentTarget.value),
  };
  return (
    <Dialog opened={opened} onClose={onClose} title={t.security.reauthTitle}>
      {me && !me.hasPassword && !byCode ? (
        <Text>{t.security.reauthProvider}</Text>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            // A form inside another one's dialog must not send that one too.
            event.stopPropagation();
            prove.mutate();
          }}
        >
          <Stack>
            <Text>{t.security.reauthText}</Text>
            {prove.error && <Alert color="red">{messageOf(prove.error)}</Alert>}
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
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                {t.common.cancel}
              </Button>
              <Button type="submit" loading={prove.isPending}>
                {t.security.reauthConfirm}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
