import { Alert, Button, FileButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconFileSpreadsheet } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { upload } from '../../api/upload.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Progress } from '../../ui/progress.tsx';

export function AddDialog({ onClose }: { onClose(): void }) {
  const { client, key } = useApi();
  const form = useForm({ initialValues: { email: '', reason: '' } });
  const add = useAction<{ email: string; reason?: string }>({
    run: (body) => unwrap(client.POST('/suppressions', { body })),
    done: (_, { email }) => t.suppressions.added(email),
    changes: [key('suppressions'), key('contacts')],
    onDone: onClose,
    quiet: true,
  });
  const submit = form.onSubmit(({ email, reason }) =>
    add.mutate({ email: email.trim(), ...(reason.trim() && { reason: reason.trim() }) }),
  );
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={t.suppressions.addTitle}
      intro={<Text size="sm">{t.suppressions.addText}</Text>}
      error={add.error}
      busy={add.isPending}
      submit={t.suppressions.add}
      onSubmit={submit}
    >
      <TextInput label={t.suppressions.address} type="email" required data-autofocus {...form.getInputProps('email')} />
      <TextInput
        label={t.suppressions.note}
        description={t.suppressions.noteHint}
        maxLength={500}
        {...form.getInputProps('reason')}
      />
    </FormDialog>
  );
}

export function ImportDialog({ onClose }: { onClose(): void }) {
  const { key, projectId } = useApi();
  const navigate = useNavigate();
  const [sent, setSent] = useState(0);
  const send = useAction<File, { jobId: string }>({
    run: (file) => {
      const form = new FormData();
      form.append('file', file);
      return upload<{ jobId: string }>(projectId, '/suppressions/import', form, setSent);
    },
    done: () => t.suppressions.importStarted,
    changes: [key('jobs')],
    onDone: ({ jobId }) => void navigate({ to: '/p/$projectId/jobs/$id', params: { projectId, id: jobId } }),
    quiet: true,
  });
  return (
    <Dialog opened onClose={onClose} title={t.suppressions.importTitle}>
      <Stack>
        <Text size="sm">{t.suppressions.importText}</Text>
        {send.error && <Alert color="red">{messageOf(send.error)}</Alert>}
        {send.isPending && <Progress value={sent * 100} aria-label={t.suppressions.importTitle} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <FileButton
            accept=".csv,text/csv"
            onChange={(file) => file && send.mutate(file)}
            inputProps={{ 'aria-label': t.suppressions.file }}
          >
            {(props) => (
              <Button {...props} leftSection={<IconFileSpreadsheet size={16} />} loading={send.isPending}>
                {t.imports.choose}
              </Button>
            )}
          </FileButton>
        </Group>
      </Stack>
    </Dialog>
  );
}
