import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconRocket } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { WorkflowDetail } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Placeholder } from '../../ui/page.tsx';
import type { DraftEditing } from './canvas/use-draft.ts';

const PublishForm = lazy(async () => ({ default: (await import('./publish-form.tsx')).PublishForm }));

export interface PublishProps {
  workflow: WorkflowDetail;
  editing: DraftEditing;
}

/** Publishes the draft after a look at what it would do. */
export function PublishButton({ workflow, editing }: PublishProps) {
  const [opened, { open, close }] = useDisclosure();
  const { save, server, conflict } = editing;
  const hasChanges = server.changed || save.kind !== 'saved';
  return (
    <>
      <Button
        leftSection={<IconRocket size={16} />}
        onClick={open}
        disabled={!hasChanges || conflict !== undefined || save.kind === 'refused'}
        title={hasChanges ? undefined : t.canvas.nothingToPublish}
      >
        {t.canvas.publish}
      </Button>
      <Dialog opened={opened} onClose={close} title={t.canvas.publishTitle(workflow.name)}>
        {opened && (
          <Suspense fallback={<Placeholder lines={6} />}>
            <PublishForm workflow={workflow} editing={editing} onClose={close} />
          </Suspense>
        )}
      </Dialog>
    </>
  );
}
