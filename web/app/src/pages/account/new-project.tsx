import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useProjects } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Copyable } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { AccountLayout } from './layout.tsx';

export function NewProjectPage() {
  const navigate = useNavigate();
  const { data: projects = [] } = useProjects();
  const form = useForm({ initialValues: { name: '' } });
  const create = useAction<{ name: string }, { id: string; name: string; publicKey: string; secretKey: string }>({
    run: (body) => unwrap(accountApi.POST('/users/@me/projects', { body })),
    changes: [['projects']],
    quiet: true,
  });
  const created = create.data;
  if (created)
    return (
      <AccountLayout title={t.account.projectCreated(created.name)}>
        <Text fw={600}>{t.account.keysTitle}</Text>
        <Alert color="yellow">{t.account.keysText}</Alert>
        <Text size="sm">{t.account.publicKey}</Text>
        <Copyable value={created.publicKey} label={t.account.publicKey} />
        <Text size="sm">{t.account.secretKey}</Text>
        <Copyable value={created.secretKey} label={t.account.secretKey} />
        <Button onClick={() => void navigate({ to: '/p/$projectId', params: { projectId: created.id } })}>
          {t.account.toProject}
        </Button>
      </AccountLayout>
    );
  return (
    <AccountLayout
      title={t.account.newProjectTitle}
      footer={
        projects.length > 0 && (
          <TextLink to="/" underline="always">
            {t.common.back}
          </TextLink>
        )
      }
    >
      <Text c="dimmed">{t.account.newProjectText}</Text>
      <form onSubmit={form.onSubmit(({ name }) => create.mutate({ name: name.trim() }))}>
        <Stack>
          {create.error && <Alert color="red">{messageOf(create.error)}</Alert>}
          <TextInput label={t.account.projectName} required maxLength={100} autoFocus {...form.getInputProps('name')} />
          <Button type="submit" loading={create.isPending}>
            {t.account.createProject}
          </Button>
        </Stack>
      </form>
    </AccountLayout>
  );
}
