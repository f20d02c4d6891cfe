import { Alert, Badge, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useCursorList, useLanguageChoice, useMe } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { AuditEntry, Session, User } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { type Language, languages } from '../../texts/language.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { CursorTable, DataTable } from '../../ui/table.tsx';
import { ActionName } from '../audit/action-name.tsx';
import { browserName } from './browser-name.ts';
import { TwoFactorPanel } from './two-factor.tsx';

/** The security of one's own account. */
export function SecurityPage() {
  const me = useMe();
  return (
    <Page title={t.security.title} description={t.security.description}>
      <Loaded query={me}>
        {(user) => (
          <>
            <TwoFactorPanel user={user} />
            <PasswordPanel user={user} />
            <LanguagePanel user={user} />
          </>
        )}
      </Loaded>
      <SessionsPanel />
      <LogPanel />
    </Page>
  );
}

function PasswordPanel({ user }: { user: User }) {
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: { newPassword: (value) => (value.length < 8 ? t.security.newPasswordHint : null) },
  });
  const change = useAction({
    run: (body: typeof form.values) => unwrap(accountApi.POST('/users/@me/password', { body })),
    done: () => t.security.passwordChanged,
    changes: [['me'], ['sessions'], ['own-audit']],
    quiet: true,
    onDone: () => form.reset(),
  });
  if (!user.hasPassword)
    return (
      <Panel title={t.security.password}>
        <Text c="dimmed">{t.security.noPassword}</Text>
      </Panel>
    );
  const toggle = { visibilityToggleButtonProps: { 'aria-label': t.account.showTyped } };
  return (
    <Panel title={t.security.password}>
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack maw={420}>
          {change.error && <Alert color="red">{messageOf(change.error)}</Alert>}
          <PasswordInput
            label={t.security.currentPassword}
            autoComplete="current-password"
            required
            {...toggle}
            {...form.getInputProps('currentPassword')}
          />
          <PasswordInput
            label={t.security.newPassword}
            description={t.security.newPasswordHint}
            autoComplete="new-password"
            required
            {...toggle}
            {...form.getInputProps('newPassword')}
          />
          <Group>
            <Button type="submit" loading={change.isPending}>
              {t.security.changePassword}
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

const FOLLOW = 'browser';

function LanguagePanel({ user: { language } }: { user: User }) {
  const choice = useLanguageChoice();
  return (
    <Panel title={t.security.language} description={t.security.languageText}>
      <Choice
        label={t.security.language}
        w={320}
        value={choice.isPending ? (choice.variables ?? FOLLOW) : (language ?? FOLLOW)}
        onChange={(value) => choice.mutate(value === FOLLOW ? undefined : (value as Language))}
        data={[
          ...Object.entries(languages).map(([value, label]) => ({ value, label })),
          { value: FOLLOW, label: t.security.browserLanguage },
        ]}
      />
    </Panel>
  );
}

function SessionsPanel() {
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: () => unwrap(accountApi.GET('/users/@me/sessions')),
  });
  return (
    <Panel flush title={t.security.sessions} description={t.security.sessionsText}>
      <Loaded query={sessions}>
        {(all) => (
          <DataTable<Session>
            label={t.security.sessions}
            rows={all}
            rowId={({ id }) => id}
            columns={[
              {
                id: 'browser',
                header: t.security.browser,
                main: true,
                cell: ({ userAgent, current }) => (
                  <Group gap="xs">
                    <span title={userAgent ?? undefined}>{browserName(userAgent)}</span>
                    {current && <Badge color="teal">{t.security.thisOne}</Badge>}
                  </Group>
                ),
              },
              { id: 'ip', header: t.security.address, cell: ({ ip }) => ip ?? '—' },
              { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
              { id: 'seen', header: t.security.lastSeen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
              {
                id: 'actions',
                header: t.common.actions,
                screenOnly: true,
                cell: (session) => (session.current ? '—' : <EndButton session={session} />),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function EndButton({ session: { id, userAgent } }: { session: Session }) {
  const end = useAction({
    run: () => unwrap(accountApi.DELETE('/users/@me/sessions/{id}', { params: { path: { id } } })),
    done: () => t.security.ended,
    changes: [['sessions'], ['own-audit']],
  });
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => end.mutate()}
      loading={end.isPending}
      aria-label={t.security.endOf(browserName(userAgent))}
    >
      {t.security.end}
    </Button>
  );
}

function LogPanel() {
  const list = useCursorList<AuditEntry>(['own-audit'], (cursor) =>
    unwrap(accountApi.GET('/users/@me/audit', { params: { query: { limit: 20, cursor } } })),
  );
  return (
    <Panel flush title={t.security.log}>
      <CursorTable<AuditEntry>
        label={t.security.log}
        list={list}
        rowId={({ id }) => id}
        empty={
          <Text c="dimmed" p="lg">
            {t.security.logEmpty}
          </Text>
        }
        columns={[
          { id: 'action', header: t.audit.action, main: true, cell: ({ action }) => <ActionName action={action} /> },
          { id: 'ip', header: t.security.address, cell: ({ ip }) => ip ?? '—' },
          { id: 'when', header: t.audit.when, cell: ({ at }) => <Time at={at} exact /> },
        ]}
      />
    </Panel>
  );
}
