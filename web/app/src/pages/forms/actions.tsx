import { Button } from '@mantine/core';
import { IconCopy, IconDots, IconPlayerPause, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Form } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';

/** Pauses, duplicates and deletes a form. */
export function FormActions({ form: { id, name, status } }: { form: Form }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'pause' | 'delete'>();
  const path = { params: { path: { id } } };
  const pause = useAction({
    run: () => unwrap(client.PATCH('/forms/{id}', { ...path, body: { status: 'PAUSED' } })),
    done: () => t.forms.paused(name),
    changes: [key('forms'), key('form', id)],
    quiet: true,
  });
  const duplicate = useAction<void, Form>({
    run: () => unwrap(client.POST('/forms/{id}/duplicate', path)),
    done: (copy) => t.forms.duplicated(copy.name),
    changes: [key('forms')],
    onDone: (copy) => void navigate({ to: '/p/$projectId/forms/$id', params: { projectId, id: copy.id } }),
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/forms/{id}', path)),
    done: () => t.forms.deleted(name),
    changes: [key('forms')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/forms', params: { projectId }, ignoreBlocker: true }),
  });
  return (
    <>
      <MenuButton
        items={[
          ...(status === 'ACTIVE'
            ? [
                {
                  key: 'pause',
                  label: t.forms.pause,
                  icon: <IconPlayerPause size={16} />,
                  onClick: () => setAsked('pause'),
                },
              ]
            : []),
          {
            key: 'duplicate',
            label: t.common.duplicate,
            icon: <IconCopy size={16} />,
            onClick: () => duplicate.mutate(),
          },
          {
            key: 'delete',
            label: t.common.delete,
            icon: <IconTrash size={16} />,
            danger: true,
            onClick: () => setAsked('delete'),
          },
        ]}
      >
        {(props) => (
          <Button variant="default" leftSection={<IconDots size={16} />} {...props}>
            {t.common.moreActions}
          </Button>
        )}
      </MenuButton>
      <ConfirmDialog
        opened={asked === 'pause'}
        onClose={() => setAsked(undefined)}
        title={t.forms.pauseTitle(name)}
        confirm={t.forms.pause}
        keep={t.forms.keepPublished}
        onConfirm={() => pause.mutateAsync()}
      >
        {t.forms.pauseText}
      </ConfirmDialog>
      <ConfirmDialog
        danger
        opened={asked === 'delete'}
        onClose={() => setAsked(undefined)}
        title={t.forms.deleteTitle(name)}
        confirm={t.common.delete}
        onConfirm={() => remove.mutateAsync()}
      >
        {t.forms.deleteText}
      </ConfirmDialog>
    </>
  );
}
