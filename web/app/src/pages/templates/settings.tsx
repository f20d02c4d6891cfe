import { Alert, Button, Grid, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown } from '@tabler/icons-react';
import { Suspense } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Template } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { Panel } from '../../ui/page.tsx';
import { TopicSelect } from '../topics/lazy.tsx';

const formOf = ({ name, description, topicId, from, fromName, replyTo }: Template) => ({
  name,
  topicId,
  description: description ?? '',
  from: from ?? '',
  fromName: fromName ?? '',
  replyTo: replyTo ?? '',
});

/** Name and sender of a template, which are live when they are saved. */
export function SettingsPanel({ template }: { template: Template }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const [opened, { toggle }] = useDisclosure();
  const { id, type } = template;
  const form = useForm({ initialValues: formOf(template) });
  useWarnBeforeLeaving(form.isDirty());
  const save = useAction({
    run: ({ name, description, topicId, from, fromName, replyTo }: typeof form.values) =>
      unwrap(
        client.PATCH('/templates/{id}', {
          params: { path: { id } },
          body: {
            name: name.trim(),
            description: description.trim() || null,
            topicId,
            from: from.trim() || null,
            fromName: fromName.trim() || null,
            replyTo: replyTo.trim() || null,
          },
        }),
      ),
    done: () => t.templates.saved,
    changes: [key('templates'), key('template', id), key('template-draft', id), key('template-versions', id)],
    quiet: true,
    onDone: (saved) => {
      form.setInitialValues(formOf(saved));
      form.setValues(formOf(saved));
    },
  });
  const field = (name: Exclude<keyof typeof form.values, 'topicId'>) => ({
    ...form.getInputProps(name),
    readOnly: !write,
  });
  const summary = [template.fromName, template.from, template.description].filter(Boolean).join(' · ');
  return (
    <Panel
      title={t.templates.settings}
      description={!opened && (summary || t.templates.typeHints[type])}
      actions={
        <Button
          variant="subtle"
          size="xs"
          onClick={toggle}
          aria-expanded={opened}
          rightSection={<IconChevronDown size={14} />}
        >
          {write ? t.common.edit : t.templates.settings}
        </Button>
      }
    >
      {opened && (
        <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
          {save.error && (
            <Alert color="red" mb="md">
              {messageOf(save.error)}
            </Alert>
          )}
          <Grid gap="md">
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <TextInput label={t.templates.name} required maxLength={200} {...field('name')} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <TextInput label={t.common.description} maxLength={500} {...field('description')} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <TextInput
                label={t.templates.from}
                description={t.templates.fromHint}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                type="email"
                {...field('from')}
              />
            </Grid.Col>
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <TextInput label={t.templates.fromName} {...field('fromName')} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <TextInput label={t.templates.replyTo} type="email" {...field('replyTo')} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <Suspense>
                <TopicSelect
                  type={type}
                  value={form.values.topicId}
                  onChange={(topicId) => form.setFieldValue('topicId', topicId)}
                  readOnly={!write}
                />
              </Suspense>
            </Grid.Col>
          </Grid>
          {write && (
            <Group justify="flex-end" mt="md">
              <Button type="submit" variant="default" loading={save.isPending} disabled={!form.isDirty()}>
                {t.templates.saveSettings}
              </Button>
            </Group>
          )}
        </form>
      )}
    </Panel>
  );
}
