import { Alert, Badge, Button, Grid, Stack } from '@mantine/core';
import { IconArchive, IconDeviceFloppy, IconRestore, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Topic } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Copyable } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { BackLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { BehaviourPanel } from './behaviour.tsx';
import { DEFAULT, emptyForm, formOf, requestOf, type TopicForm } from './form.ts';
import { PagePreview } from './preview.tsx';
import { TextsPanel } from './texts-panel.tsx';

function useBackLink(): ReactNode {
  const { projectId } = useApi();
  return (
    <BackLink to="/p/$projectId/topics" params={{ projectId }}>
      {t.topics.title}
    </BackLink>
  );
}

export function NewTopicPage() {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const [form, setForm] = useState(emptyForm);
  const [touched, setTouched] = useState(false);
  const create = useAction<TopicForm, Topic>({
    run: (values) =>
      unwrap(
        client.POST('/topics', {
          body: { ...requestOf(values), kind: values.kind, ...(values.key.trim() && { key: values.key.trim() }) },
        }),
      ),
    done: () => t.topics.created,
    changes: [key('topics')],
    quiet: true,
    onDone: ({ id }) =>
      void navigate({ to: '/p/$projectId/topics/$id', params: { projectId, id }, ignoreBlocker: true }),
  });
  useWarnBeforeLeaving(touched);
  const change = (part: Partial<TopicForm>) => {
    setTouched(true);
    setForm((old) => ({ ...old, ...part }));
  };
  return (
    <Page
      title={t.topics.new}
      back={useBackLink()}
      actions={
        <SaveButton label={t.topics.create} form={form} busy={create.isPending} onSave={() => create.mutate(form)} />
      }
    >
      {create.error && <Alert color="red">{messageOf(create.error)}</Alert>}
      <Editor form={form} onChange={change} isNew />
    </Page>
  );
}

export function TopicPage() {
  const { client, key } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/topics/$id' });
  const back = useBackLink();
  const topic = useQuery({
    queryKey: key('topics', id),
    queryFn: () => unwrap(client.GET('/topics/{id}', { params: { path: { id } } })),
  });
  if (topic.data) return <ExistingTopic key={id} topic={topic.data} />;
  return (
    <Page title={t.topics.title} back={back}>
      <Loaded query={topic}>{() => null}</Loaded>
    </Page>
  );
}

function ExistingTopic({ topic }: { topic: Topic }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const [stored, setStored] = useState(() => formOf(topic));
  const [form, setForm] = useState(stored);
  const { id, name } = topic;
  const isDirty = form !== stored;
  useWarnBeforeLeaving(isDirty);
  const save = useAction<TopicForm, Topic>({
    run: (values) => unwrap(client.PATCH('/topics/{id}', { params: { path: { id } }, body: requestOf(values) })),
    done: () => t.topics.saved,
    changes: [key('topics')],
    quiet: true,
    onDone: (_, sent) => setStored(sent),
  });
  return (
    <Page
      title={name}
      back={useBackLink()}
      badge={
        <>
          <Badge variant="default">{t.topics.kinds[topic.kind]}</Badge>
          {topic.archived && <Badge color="gray">{t.topics.archived}</Badge>}
          {isDirty && <Badge color="yellow">{t.common.unsaved}</Badge>}
        </>
      }
      actions={
        write && (
          <>
            <SaveButton
              label={t.common.save}
              form={form}
              busy={save.isPending}
              isSaved={!isDirty}
              onSave={() => save.mutate(form)}
            />
            <TopicActions topic={topic} />
          </>
        )
      }
    >
      {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
      <Editor
        form={form}
        topicId={id}
        onChange={(part) => setForm((old) => ({ ...old, ...part }))}
        readOnly={!write || topic.archived}
      />
    </Page>
  );
}

function TopicActions({ topic }: { topic: Topic }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const { id, name, archived, counts } = topic;
  const params = { params: { path: { id } } };
  const archive = useAction({
    run: (next: boolean) => unwrap(client.PATCH('/topics/{id}', { ...params, body: { archived: next } })),
    done: (_, next) => (next ? t.topics.archivedDone(name) : t.topics.restored(name)),
    changes: [key('topics')],
    quiet: !archived,
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/topics/{id}', params)),
    done: () => t.topics.deleted(name),
    quiet: true,
    onDone: () => {
      void navigate({ to: '/p/$projectId/topics', params: { projectId }, ignoreBlocker: true });
    },
    changes: [key('topics', { archived: false }), key('topics', { archived: true })],
  });
  return (
    <>
      {archived ? (
        <Button
          variant="default"
          leftSection={<IconRestore size={16} />}
          loading={archive.isPending}
          onClick={() => archive.mutate(false)}
        >
          {t.topics.restore}
        </Button>
      ) : (
        <ConfirmButton
          label={t.topics.archive}
          icon={<IconArchive size={16} />}
          title={t.topics.archiveTitle(name)}
          confirm={t.topics.archive}
          onConfirm={() => archive.mutateAsync(true)}
        >
          {t.topics.archiveText}
        </ConfirmButton>
      )}
      <ConfirmButton
        danger
        label={t.common.delete}
        icon={<IconTrash size={16} />}
        title={t.topics.deleteTitle(name)}
        confirm={t.common.delete}
        onConfirm={() => remove.mutateAsync()}
      >
        {t.topics.deleteText(counts.subscribed + counts.unsubscribed + counts.pending)}
      </ConfirmButton>
    </>
  );
}

interface SaveButtonProps {
  label: string;
  form: TopicForm;
  busy: boolean;
  isSaved?: boolean;
  onSave(): void;
}

const SaveButton = ({ label, form, busy, isSaved = false, onSave }: SaveButtonProps) => (
  <Button
    leftSection={<IconDeviceFloppy size={16} />}
    loading={busy}
    disabled={isSaved || !form.texts[DEFAULT]?.name.trim()}
    onClick={onSave}
  >
    {label}
  </Button>
);

interface EditorProps {
  form: TopicForm;
  onChange(part: Partial<TopicForm>): void;
  topicId?: string;
  isNew?: boolean;
  readOnly?: boolean;
}

function Editor({ form, onChange, topicId, isNew = false, readOnly = false }: EditorProps) {
  const [locale, setLocale] = useState(DEFAULT);
  const fields = { form, onChange, readOnly };
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <TextsPanel {...fields} locale={locale} onLocale={setLocale} />
          <BehaviourPanel {...fields} isNew={isNew} />
          {!isNew && (
            <Panel title={t.topics.key}>
              <Copyable value={form.key} label={t.topics.key} />
            </Panel>
          )}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <PagePreview form={form} locale={locale} topicId={topicId} />
      </Grid.Col>
    </Grid>
  );
}
