import { Alert, Badge, Button, Grid, List, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconCopy, IconDeviceFloppy, IconDots, IconSend, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Template } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { MailEditor } from '../../ui/mail-editor.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { TestMailButton } from '../../ui/test-mail.tsx';
import { UsagePanel, useTemplateUsage, VersionsPanel } from './history.tsx';

interface Form {
  name: string;
  description: string;
  type: Template['type'];
  subject: string;
  body: string;
  from: string;
  fromName: string;
  replyTo: string;
}

const formOf = (template?: Template): Form => ({
  name: template?.name ?? '',
  description: template?.description ?? '',
  type: template?.type ?? 'TRANSACTIONAL',
  subject: template?.subject ?? '',
  body: template?.body ?? t.templates.starter,
  from: template?.from ?? '',
  fromName: template?.fromName ?? '',
  replyTo: template?.replyTo ?? '',
});

const bodyOf = ({ name, description, subject, body, from, fromName, replyTo }: Form) => ({
  name: name.trim(),
  description: description.trim() || null,
  subject: subject.trim(),
  body,
  from: from.trim() || null,
  fromName: fromName.trim() || null,
  replyTo: replyTo.trim() || null,
});

export function NewTemplatePage() {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const [form, setForm] = useState(() => formOf());
  const create = useAction<Form, Template>({
    run: (values) =>
      unwrap(
        client.POST('/templates', {
          body: { ...bodyOf(values), type: values.type === 'MARKETING' ? 'MARKETING' : 'TRANSACTIONAL' },
        }),
      ),
    done: () => t.templates.created,
    changes: [key('templates'), key('setup')],
    quiet: true,
    onDone: ({ id }) =>
      void navigate({ to: '/p/$projectId/templates/$id', params: { projectId, id }, ignoreBlocker: true }),
  });
  useWarnBeforeLeaving(JSON.stringify(form) !== JSON.stringify(formOf()));
  return (
    <Page
      title={t.templates.newTitle}
      back={{ to: `/p/${projectId}/templates`, label: t.templates.title }}
      actions={
        <Button
          leftSection={<IconDeviceFloppy size={16} />}
          loading={create.isPending}
          disabled={!form.name.trim() || !form.subject.trim()}
          onClick={() => create.mutate(form)}
        >
          {t.common.save}
        </Button>
      }
    >
      <TemplateForm form={form} onChange={setForm} error={create.error} isNew />
    </Page>
  );
}

export function TemplatePage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/templates/$id' });
  const template = useQuery({
    queryKey: key('template', id),
    queryFn: () => unwrap(client.GET('/templates/{id}', { params: { path: { id } } })),
  });
  if (template.data) return <ExistingTemplate key={id} template={template.data} />;
  return (
    <Page title={t.templates.title} back={{ to: `/p/${projectId}/templates`, label: t.templates.title }}>
      <Loaded query={template}>{() => null}</Loaded>
    </Page>
  );
}

function ExistingTemplate({ template }: { template: Template }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const [form, setForm] = useState(() => formOf(template));
  const [deleting, { open, close }] = useDisclosure();
  const usage = useTemplateUsage(template.id);
  const { id, name } = template;
  const params = { params: { path: { id } } };
  const changed = JSON.stringify(bodyOf(form)) !== JSON.stringify(bodyOf(formOf(template)));
  useWarnBeforeLeaving(changed);
  const save = useAction<Form, Template>({
    run: (values) => unwrap(client.PATCH('/templates/{id}', { ...params, body: bodyOf(values) })),
    done: () => t.templates.saved,
    changes: [key('templates'), key('template', id), key('template-versions', id)],
    quiet: true,
  });
  const duplicate = useAction({
    run: () => unwrap(client.POST('/templates/{id}/duplicate', params)),
    done: (copy: Template) => t.templates.duplicated(copy.name),
    changes: [key('templates')],
    onDone: (copy) => void navigate({ to: '/p/$projectId/templates/$id', params: { projectId, id: copy.id } }),
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/templates/{id}', params)),
    done: () => t.templates.deleted(name),
    changes: [key('templates')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/templates', params: { projectId }, ignoreBlocker: true }),
  });
  return (
    <Page
      title={name}
      back={{ to: `/p/${projectId}/templates`, label: t.templates.title }}
      badge={
        <>
          <Badge>{t.templates.types[template.type]}</Badge>
          {changed && <Badge color="yellow">{t.common.unsaved}</Badge>}
        </>
      }
      actions={
        write && (
          <>
            <TestMailButton
              disabled={changed}
              send={(email) => unwrap(client.POST('/templates/{id}/test', { ...params, body: { email } }))}
            />
            <Button
              leftSection={<IconDeviceFloppy size={16} />}
              onClick={() => save.mutate(form)}
              loading={save.isPending}
              disabled={!changed}
            >
              {t.common.save}
            </Button>
            <MenuButton
              items={[
                {
                  key: 'campaign',
                  label: t.templates.useInCampaign,
                  icon: <IconSend size={16} />,
                  onClick: () =>
                    void navigate({
                      to: '/p/$projectId/campaigns/new',
                      params: { projectId },
                      search: { templateId: id },
                    }),
                },
                {
                  key: 'duplicate',
                  label: t.common.duplicate,
                  icon: <IconCopy size={16} />,
                  onClick: () => duplicate.mutate(),
                },
                { key: 'delete', label: t.common.delete, icon: <IconTrash size={16} />, danger: true, onClick: open },
              ]}
            >
              {(props) => (
                <Button variant="default" px="sm" aria-label={t.common.moreActions} {...props}>
                  <IconDots size={18} />
                </Button>
              )}
            </MenuButton>
            {usage.data?.canDelete === false ? (
              <Dialog opened={deleting} onClose={close} title={t.templates.usedTitle(name)}>
                <Text mb="xs">{t.templates.usedText}</Text>
                <List className="breakable">
                  {usage.data.workflowSteps.map(({ stepId, stepName, workflowName }) => (
                    <List.Item key={stepId}>{t.templates.usedInWorkflow(workflowName, stepName)}</List.Item>
                  ))}
                </List>
              </Dialog>
            ) : (
              <ConfirmDialog
                danger
                opened={deleting}
                onClose={close}
                title={t.templates.deleteTitle(name)}
                confirm={t.common.delete}
                onConfirm={() => remove.mutateAsync()}
              >
                {t.templates.deleteText}
              </ConfirmDialog>
            )}
          </>
        )
      }
    >
      <TemplateForm form={form} onChange={setForm} error={save.error} readOnly={!write} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <VersionsPanel template={template} onRestored={(restored) => setForm(formOf(restored))} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <UsagePanel templateId={id} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

interface TemplateFormProps {
  form: Form;
  onChange(form: Form): void;
  error: Error | null;
  isNew?: boolean;
  readOnly?: boolean;
}

function TemplateForm({ form, onChange, error, isNew = false, readOnly = false }: TemplateFormProps) {
  const [opened, { toggle }] = useDisclosure(isNew);
  const field = (name: 'name' | 'description' | 'from' | 'fromName' | 'replyTo') => ({
    value: form[name],
    readOnly,
    onChange: (event: { currentTarget: { value: string } }) => onChange({ ...form, [name]: event.currentTarget.value }),
  });
  return (
    <Stack gap="lg">
      {error && <Alert color="red">{messageOf(error)}</Alert>}
      <Panel
        title={t.templates.settings}
        description={
          !opened &&
          ([form.fromName, form.from, form.description].filter(Boolean).join(' · ') || t.templates.typeHints[form.type])
        }
        actions={
          !isNew && (
            <Button
              variant="subtle"
              size="xs"
              onClick={toggle}
              aria-expanded={opened}
              rightSection={<IconChevronDown size={14} />}
            >
              {t.common.edit}
            </Button>
          )
        }
      >
        {opened && (
          <Grid gap="md">
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <TextInput label={t.templates.name} required maxLength={200} {...field('name')} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, sm: 6 }}>
              <Select
                label={t.templates.type}
                description={t.templates.typeHints[form.type]}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                allowDeselect={false}
                disabled={!isNew}
                value={form.type}
                onChange={(type) => onChange({ ...form, type: (type ?? 'TRANSACTIONAL') as Form['type'] })}
                data={(isNew ? (['TRANSACTIONAL', 'MARKETING'] as const) : ([form.type] as const)).map((value) => ({
                  value,
                  label: t.templates.types[value],
                }))}
              />
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
              <TextInput label={t.common.description} maxLength={500} {...field('description')} />
            </Grid.Col>
          </Grid>
        )}
      </Panel>
      <Panel title={t.templates.content}>
        <MailEditor
          subject={form.subject}
          body={form.body}
          type={form.type}
          onSubject={(subject) => onChange({ ...form, subject })}
          onBody={(body) => onChange({ ...form, body })}
          readOnly={readOnly}
        />
      </Panel>
    </Stack>
  );
}
