import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconMailForward } from '@tabler/icons-react';
import { useState } from 'react';
import { useAction, useMe } from '../api/hooks.ts';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';
import { Dialog } from './dialog.tsx';

/** Sends the saved mail once to one address. */
export function TestMailButton({ send, disabled }: { send(email: string): Promise<unknown>; disabled?: boolean }) {
  const [opened, { open, close }] = useDisclosure();
  const { data: user } = useMe();
  const [typed, setTyped] = useState<string>();
  const email = typed ?? user?.email ?? '';
  const test = useAction<string>({
    run: send,
    done: (_, address) => t.templates.testSent(address),
    onDone: close,
    quiet: true,
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconMailForward size={16} />}
        onClick={open}
        disabled={disabled}
        title={disabled ? t.templates.unsavedTest : undefined}
      >
        {t.templates.test}
      </Button>
      <Dialog opened={opened} onClose={close} title={t.templates.testTitle}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            test.mutate(email.trim());
          }}
        >
          <Stack>
            <Text size="sm">{t.templates.testText}</Text>
            {test.error && <Alert color="red">{messageOf(test.error)}</Alert>}
            <TextInput
              label={t.templates.testAddress}
              type="email"
              required
              data-autofocus
              value={email}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t.common.cancel}
              </Button>
              <Button type="submit" loading={test.isPending}>
                {t.templates.test}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
