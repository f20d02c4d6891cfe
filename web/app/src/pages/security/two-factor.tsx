import { Alert, Badge, Box, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload, IconShieldCheck } from '@tabler/icons-react';
import { encode } from 'uqr';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { User } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Copyable, CopyButton } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormBody } from '../../ui/form-dialog.tsx';
import { Panel } from '../../ui/page.tsx';
import { useReauthentication } from './reauthenticate.tsx';

const changes = [['me'], ['sessions'], ['own-audit']];

export function TwoFactorPanel({ user }: { user: User }) {
  const { confirmed, dialog } = useReauthentication();
  const begin = useAction({ run: () => confirmed(() => unwrap(accountApi.POST('/users/@me/totp'))) });
  const [turningOff, { open, close }] = useDisclosure();
  return (
    <Panel
      title={t.security.twoFactor}
      description={t.security.twoFactorText}
      actions={
        <Badge color={user.totpEnabled ? 'teal' : 'gray'}>{user.totpEnabled ? t.security.on : t.security.off}</Badge>
      }
    >
      {user.totpEnabled ? (
        <Button variant="default" onClick={open}>
          {t.security.turnOff}
        </Button>
      ) : (
        <Button leftSection={<IconShieldCheck size={16} />} onClick={() => begin.mutate()} loading={begin.isPending}>
          {t.security.setUp}
        </Button>
      )}
      {begin.data && <SetUpDialog {...begin.data} onClose={() => begin.reset()} />}
      <TurnOffDialog opened={turningOff} onClose={close} />
      {dialog}
    </Panel>
  );
}

interface CodeFormProps {
  confirm: string;
  hint?: string;
  danger?: boolean;
  busy: boolean;
  error: Error | null;
  onSubmit(code: string): void;
  onClose(): void;
}

function CodeForm({ confirm, hint, danger, busy, error, onSubmit, onClose }: CodeFormProps) {
  const form = useForm({ initialValues: { code: '' } });
  return (
    <FormBody
      error={error}
      busy={busy}
      submit={confirm}
      {...(danger && { danger })}
      onSubmit={form.onSubmit(({ code }) => onSubmit(code.trim()))}
      onCancel={onClose}
    >
      <TextInput
        label={t.security.code}
        description={hint}
        autoComplete="one-time-code"
        inputMode={hint ? undefined : 'numeric'}
        required
        data-autofocus
        {...form.getInputProps('code')}
      />
    </FormBody>
  );
}

/** Shows the key, asks for a first code, and then shows the recovery codes until the user has kept them. */
function SetUpDialog({ secret, uri, onClose }: { secret: string; uri: string; onClose(): void }) {
  const enable = useAction({
    run: (code: string) => unwrap(accountApi.POST('/users/@me/totp/confirm', { body: { code } })),
    done: () => t.security.turnedOn,
    quiet: true,
  });
  // The page is updated only now: it would take the dialog away with the codes in it.
  const finish = useAction({ run: async () => {}, changes, onDone: onClose });
  if (enable.data)
    return (
      <Dialog opened closedByButtonOnly onClose={() => finish.mutate()} title={t.security.codesTitle}>
        <RecoveryCodes codes={enable.data.recoveryCodes} onKept={() => finish.mutate()} />
      </Dialog>
    );
  return (
    <Dialog opened onClose={onClose} title={t.security.setUpTitle}>
      <Stack>
        <Text>{t.security.scan}</Text>
        <QrPicture text={uri} />
        <div>
          <Text size="sm" fw={500}>
            {t.security.key}
          </Text>
          <Copyable value={secret} label={t.security.key} />
        </div>
        <CodeForm
          confirm={t.security.confirm}
          busy={enable.isPending}
          error={enable.error}
          onSubmit={(code) => enable.mutate(code)}
          onClose={onClose}
        />
      </Stack>
    </Dialog>
  );
}

/** Light modules around the picture that readers need. */
const QUIET = 4;

function QrPicture({ text }: { text: string }) {
  const { data, size } = encode(text, { border: QUIET });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x},${y}h1v1h-1z` : ''))).join('');
  return (
    <Box maw={220} mx="auto" w="100%">
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t.security.qr} shapeRendering="crispEdges">
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
    </Box>
  );
}

function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept(): void }) {
  const text = codes.join('\n');
  return (
    <Stack>
      <Alert color="yellow">{t.security.codesText}</Alert>
      <SimpleGrid cols={2} component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label={t.security.codesTitle}>
        {codes.map((code) => (
          <Text component="li" key={code} ff="monospace" ta="center">
            {code}
          </Text>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <Group gap="xs">
          <CopyButton value={text} label={t.security.copyCodes} />
          <Button
            component="a"
            variant="default"
            size="xs"
            leftSection={<IconDownload size={14} />}
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
            download="everpost-recovery-codes.txt"
          >
            {t.security.download}
          </Button>
        </Group>
        <Button onClick={onKept}>{t.security.codesKept}</Button>
      </Group>
    </Stack>
  );
}

function TurnOffDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const disable = useAction({
    run: (code: string) => unwrap(accountApi.DELETE('/users/@me/totp', { body: { code } })),
    done: () => t.security.turnedOff,
    changes,
    quiet: true,
    onDone: onClose,
  });
  return (
    <Dialog opened={opened} onClose={onClose} title={t.security.turnOffTitle}>
      <CodeForm
        danger
        confirm={t.security.turnOff}
        hint={t.security.codeHint}
        busy={disable.isPending}
        error={disable.error}
        onSubmit={(code) => disable.mutate(code)}
        onClose={onClose}
      />
    </Dialog>
  );
}
