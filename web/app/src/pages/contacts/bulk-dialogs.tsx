import { Alert, Autocomplete, Button, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconForms, IconUsersPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { ButtonLink } from '../../ui/links.tsx';

interface AddToSegmentProps {
  count: number;
  onRun(segmentId: string): Promise<void>;
}

export function AddToSegmentButton({ count, onRun }: AddToSegmentProps) {
  const { client, key, projectId } = useApi();
  const [opened, { open, close }] = useDisclosure();
  const segments = useQuery({
    queryKey: key('segments'),
    queryFn: () => unwrap(client.GET('/segments')),
    enabled: opened,
  });
  const choices = (segments.data ?? []).filter(({ type }) => type === 'STATIC');
  const form = useForm({
    initialValues: { segmentId: '' },
    validate: { segmentId: (id) => (id === '' ? t.contactLists.segmentNeeded : null) },
  });
  const add = useAction({ run: onRun, quiet: true, onDone: close });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconUsersPlus size={16} />}
        onClick={() => {
          add.reset();
          form.reset();
          open();
        }}
      >
        {t.contactLists.addToSegment}
      </Button>
      <FormDialog
        opened={opened}
        title={t.contactLists.addToSegmentTitle(count)}
        onClose={close}
        error={add.error}
        busy={add.isPending}
        submit={t.contactLists.addToSegment}
        onSubmit={form.onSubmit(({ segmentId }) => add.mutate(segmentId))}
      >
        {segments.data && choices.length === 0 ? (
          <Alert color="yellow">
            {t.contactLists.noStatic}{' '}
            <ButtonLink to="/p/$projectId/segments/new" params={{ projectId }} size="xs" variant="default">
              {t.contactLists.newSegment}
            </ButtonLink>
          </Alert>
        ) : (
          <Select
            label={t.contactLists.segment}
            description={t.contactLists.staticOnly}
            data={choices.map(({ id, name }) => ({ value: id, label: name }))}
            searchable
            allowDeselect={false}
            {...form.getInputProps('segmentId')}
          />
        )}
      </FormDialog>
    </>
  );
}

interface SetFieldProps {
  count: number;
  fields: string[];
  onRun(options: { field: string; value: string | number | boolean | null }): Promise<void>;
}

export function SetFieldButton({ count, fields, onRun }: SetFieldProps) {
  const [opened, { open, close }] = useDisclosure();
  const form = useForm({
    initialValues: { field: '', value: '' },
    validate: { field: (field) => (field.trim() === '' ? t.contactLists.fieldNeeded : null) },
  });
  const set = useAction({ run: onRun, quiet: true, onDone: close });
  const isRemoving = form.values.value === '';
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconForms size={16} />}
        onClick={() => {
          set.reset();
          form.reset();
          open();
        }}
      >
        {t.contactLists.setField}
      </Button>
      <FormDialog
        opened={opened}
        title={t.contactLists.setFieldTitle(count)}
        onClose={close}
        error={set.error}
        busy={set.isPending}
        submit={isRemoving ? t.contactLists.removeFieldSubmit : t.contactLists.setFieldSubmit}
        danger={isRemoving}
        onSubmit={form.onSubmit(({ field, value }) => set.mutate({ field: field.trim(), value: scalarOf(value) }))}
      >
        <Autocomplete
          label={t.contactLists.field}
          data={fields}
          maxLength={256}
          data-autofocus
          {...form.getInputProps('field')}
        />
        <TextInput
          label={t.contactLists.value}
          description={t.contactLists.valueHint}
          {...form.getInputProps('value')}
        />
      </FormDialog>
    </>
  );
}

/** Empty removes the field; numbers, true and false are stored as such. */
function scalarOf(text: string): string | number | boolean | null {
  if (text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
}
