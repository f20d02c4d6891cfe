import { Box, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useProject } from '../../api/hooks.ts';
import type { Project } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Copyable } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Panel } from '../../ui/page.tsx';
import { ShownOnceDialog } from '../../ui/shown-once.tsx';
import { useReauthentication } from '../security/reauthenticate.tsx';

/** The public and the secret key that every project has. */
export function KeyPairPanel() {
  const project = useProject();
  return project ? <KeyPair key={project.id} project={project} /> : null;
}

function KeyPair({ project: { id, publicKey } }: { project: Project }) {
  const { confirmed, dialog } = useReauthentication();
  const replace = useAction({
    run: () =>
      confirmed(() =>
        unwrap(accountApi.POST('/users/@me/projects/{id}/regenerate-keys', { params: { path: { id } } })),
      ),
    done: () => t.developers.replaced,
    changes: [['projects']],
    quiet: true,
  });
  return (
    <Panel
      title={t.developers.pair}
      description={t.developers.pairText}
      actions={
        <ConfirmButton
          danger
          variant="light"
          label={t.developers.replace}
          icon={<IconRefresh size={16} />}
          title={t.developers.replaceTitle}
          confirm={t.developers.replace}
          onConfirm={() => replace.mutateAsync()}
        >
          {t.developers.replaceText}
        </ConfirmButton>
      }
    >
      <Stack gap="sm">
        <Box>
          <Text size="sm" c="dimmed">
            {t.developers.publicKey}
          </Text>
          <Copyable value={publicKey} label={t.developers.publicKey} />
        </Box>
        <Box>
          <Text size="sm" c="dimmed">
            {t.developers.secretKey}
          </Text>
          <Text size="sm">{t.developers.secretHidden}</Text>
        </Box>
      </Stack>
      {dialog}
      {replace.data && (
        <ShownOnceDialog
          title={t.developers.secretKey}
          text={t.developers.secretOnce}
          label={t.developers.secretKey}
          value={replace.data.secretKey}
          confirm={t.developers.stored}
          onClose={replace.reset}
        />
      )}
    </Panel>
  );
}
