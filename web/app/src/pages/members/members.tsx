import { Badge, Button, Group, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useApi, useMe, useProject, useRights } from '../../api/hooks.ts';
import type { Member } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useReauthentication } from '../security/reauthenticate.tsx';

const roles = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'] as const;
type Role = (typeof roles)[number];
const none: ReadonlySet<string> = new Set();

export function MembersPage() {
  const { client, key, projectId } = useApi();
  const { admin } = useRights();
  const { invite } = useSearch({ from: '/signed-in/p/$projectId/members' });
  const navigate = useNavigate({ from: '/p/$projectId/members' });
  const members = useQuery({
    queryKey: key('members'),
    queryFn: () => unwrap(client.GET('/projects/{id}/members', { params: { path: { id: projectId } } })),
  });
  const setInviting = (on: boolean) => void navigate({ search: { invite: on || undefined }, replace: true });
  return (
    <Page
      title={t.members.title}
      description={t.members.description}
      actions={
        admin && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setInviting(true)}>
            {t.members.invite}
          </Button>
        )
      }
    >
      <Panel flush>
        <Loaded query={members}>
          {(all) => <MemberTable label={t.members.title} members={all.filter(({ status }) => status === 'ACTIVE')} />}
        </Loaded>
      </Panel>
      <Panel flush title={t.members.pendingTitle}>
        <Loaded query={members} lines={2}>
          {(all) => {
            const pending = all.filter(({ status }) => status === 'PENDING');
            return pending.length === 0 ? (
              <Text c="dimmed" px="lg" pb="lg">
                {t.members.pendingEmpty}
              </Text>
            ) : (
              <MemberTable label={t.members.pendingTitle} members={pending} />
            );
          }}
        </Loaded>
      </Panel>
      <TwoFactorPanel />
      <InviteDialog opened={admin && invite === true} onClose={() => setInviting(false)} />
    </Page>
  );
}

function MemberTable({ members, label }: { members: Member[]; label: string }) {
  const { admin } = useRights();
  const { data: me } = useMe();
  const leaves = members.some(({ userId }) => userId === me?.id);
  return (
    <DataTable<Member>
      label={label}
      rows={members}
      rowId={({ userId }) => userId}
      hidden={admin || leaves ? none : new Set(['actions'])}
      columns={[
        {
          id: 'email',
          header: t.members.email,
          main: true,
          cell: ({ email, userId }) => (
            <Group gap="xs">
              <span className="breakable">{email}</span>
              {userId === me?.id && <Badge color="gray">{t.members.you}</Badge>}
            </Group>
          ),
        },
        { id: 'role', header: t.members.role, cell: (member) => <RoleCell member={member} /> },
        { id: 'since', header: t.members.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          id: 'actions',
          header: t.common.actions,
          screenOnly: true,
          cell: (member) => <RemoveButton member={member} />,
        },
      ]}
    />
  );
}

/** Only owners make, change and remove owners. */
function useMayChange({ role }: Member): boolean {
  const own = useProject()?.role;
  return own === 'OWNER' || (own === 'ADMIN' && role !== 'OWNER');
}

function useOfferedRoles(): Role[] {
  const own = useProject()?.role;
  return roles.filter((role) => own === 'OWNER' || role !== 'OWNER');
}

function RoleCell({ member }: { member: Member }) {
  const { client, key, projectId } = useApi();
  const { data: me } = useMe();
  const mayChange = useMayChange(member);
  const offered = useOfferedRoles();
  const { confirmed, dialog } = useReauthentication();
  const { userId, email, role } = member;
  const change = useAction({
    run: (next: Role) =>
      confirmed(() =>
        unwrap(
          client.PATCH('/projects/{id}/members/{userId}', {
            params: { path: { id: projectId, userId } },
            body: { role: next },
          }),
        ),
      ),
    done: (_, next) => t.members.roleChanged(email, t.members.roles[next]),
    changes: [key('members'), ...(userId === me?.id ? [['projects']] : [])],
  });
  if (!mayChange) return <Badge color="gray">{t.members.roles[role]}</Badge>;
  return (
    <>
      <Choice<Role>
        label={t.members.changeRole(email)}
        w={140}
        value={change.isPending ? (change.variables ?? role) : role}
        onChange={(next) => change.mutate(next)}
        data={offered.map((value) => ({ value, label: t.members.roles[value] }))}
      />
      {dialog}
    </>
  );
}

function RemoveButton({ member }: { member: Member }) {
  const { client, key, projectId } = useApi();
  const { data: me } = useMe();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const mayChange = useMayChange(member);
  const { userId, email, status } = member;
  const isSelf = userId === me?.id;
  const isPending = status === 'PENDING';
  const remove = useAction({
    run: () =>
      unwrap(client.DELETE('/projects/{id}/members/{userId}', { params: { path: { id: projectId, userId } } })),
    done: () => (isPending ? t.members.withdrawn(email) : t.members.removed(email)),
    changes: isSelf ? [] : [key('members')],
    quiet: true,
    onDone: () => {
      if (!isSelf) return;
      cache.removeQueries({ queryKey: ['projects'] });
      void navigate({ to: '/' });
    },
  });
  if (!isSelf && !mayChange) return null;
  const texts = isSelf
    ? { label: t.members.leave, title: t.members.leaveTitle, text: t.members.leaveText }
    : isPending
      ? { label: t.members.withdraw, title: t.members.withdrawTitle(email), text: t.members.withdrawText }
      : { label: t.members.remove, title: t.members.removeTitle(email), text: t.members.removeText(email) };
  return (
    <ConfirmButton
      danger
      variant="subtle"
      size="xs"
      label={texts.label}
      title={texts.title}
      confirm={texts.label}
      onConfirm={() => remove.mutateAsync()}
    >
      {texts.text}
    </ConfirmButton>
  );
}

function InviteDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { client, key, projectId } = useApi();
  const offered = useOfferedRoles();
  const form = useForm({ initialValues: { email: '', role: 'MEMBER' as Role } });
  const { confirmed, dialog } = useReauthentication();
  const invite = useAction({
    run: (body: { email: string; role: Role }) =>
      confirmed(() => unwrap(client.POST('/projects/{id}/members', { params: { path: { id: projectId } }, body }))),
    done: (member) => t.members.invited(member.email),
    changes: [key('members'), key('setup')],
    quiet: true,
    onDone: () => {
      form.reset();
      onClose();
    },
  });
  return (
    <>
      <FormDialog
        opened={opened}
        onClose={onClose}
        title={t.members.inviteTitle}
        error={invite.error}
        busy={invite.isPending}
        submit={t.members.invite}
        onSubmit={form.onSubmit(({ email, role }) => invite.mutate({ email: email.trim(), role }))}
      >
        <TextInput label={t.members.email} type="email" required data-autofocus {...form.getInputProps('email')} />
        <Choice<Role>
          label={t.members.role}
          visibleLabel
          value={form.values.role}
          onChange={(role) => form.setFieldValue('role', role)}
          data={offered.map((value) => ({ value, label: t.members.roles[value] }))}
        />
        <Text size="sm" c="dimmed">
          {t.members.roleHints[form.values.role]}
        </Text>
      </FormDialog>
      {dialog}
    </>
  );
}

/** Whether members need two-factor authentication: an owner decides who has it. */
function TwoFactorPanel() {
  const { projectId } = useApi();
  const project = useProject();
  const { data: me } = useMe();
  const { confirmed, dialog } = useReauthentication();
  const change = useAction({
    run: (requireTwoFactor: boolean) =>
      confirmed(() =>
        unwrap(
          accountApi.PATCH('/users/@me/projects/{id}', {
            params: { path: { id: projectId } },
            body: { requireTwoFactor },
          }),
        ),
      ),
    done: (changed) => (changed.requireTwoFactor ? t.members.required : t.members.notRequired),
    changes: [['projects']],
  });
  if (!project) return null;
  const isOwner = project.role === 'OWNER';
  return (
    <Panel title={t.members.security}>
      <Switch
        label={t.members.requireTwoFactor}
        description={t.members.requireTwoFactorHint}
        checked={change.isPending ? change.variables : project.requireTwoFactor}
        disabled={!isOwner || !me?.totpEnabled}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      {isOwner && me && !me.totpEnabled && (
        <Text size="sm" c="dimmed" mt="xs">
          {t.members.requireOwnFirst}{' '}
          <TextLink to="/p/$projectId/security" params={{ projectId: project.id }} inherit underline="always">
            {t.members.toOwnSecurity}
          </TextLink>
        </Text>
      )}
      {dialog}
    </Panel>
  );
}
