import { Alert, Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconBrandGithub, IconBrandGoogle, IconKey } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useMe } from '../../api/hooks.ts';
import { ApiProblem, messageOf } from '../../api/problem.ts';
import { session } from '../../query-client.ts';
import { t } from '../../texts/index.ts';
import { TextLink } from '../../ui/links.tsx';
import { AccountLayout } from './layout.tsx';

interface Credentials {
  email: string;
  password: string;
  /** Of the second factor, once the API asks for it. */
  code?: string;
}

const providers = { github: ['GitHub', IconBrandGithub], google: ['Google', IconBrandGoogle] } as const;

function useEntry() {
  const { next } = useSearch({ strict: false });
  const cache = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    session.absent = false;
    cache.clear();
    // The router puts its base path before `next`; the browser's history would not.
    await navigate({ to: '/', ...(next && { href: next }) });
  };
}

export function SignInPage() {
  const enter = useEntry();
  const { next } = useSearch({ strict: false });
  const config = useQuery({
    queryKey: ['config'],
    queryFn: () => unwrap(accountApi.GET('/config')),
    staleTime: 600_000,
  });
  const form = useForm({ initialValues: { email: '', password: '', code: '' } });
  const signIn = useAction<Credentials>({
    run: (body) => unwrap(accountApi.POST('/auth/login', { body })),
    onDone: () => void enter(),
    quiet: true,
  });
  const needsCode = signIn.error instanceof ApiProblem && signIn.error.details.totpRequired === true;
  const [askedForCode, setAskedForCode] = useState(false);
  if (needsCode && !askedForCode) setAskedForCode(true);
  const submit = form.onSubmit(({ email, password, code }) =>
    signIn.mutate({ email: email.trim(), password, ...(code && { code: code.trim() }) }),
  );
  const signupOpen = config.data?.signup.enabled !== false;
  return (
    <AccountLayout
      title={t.account.signInTitle}
      footer={
        signupOpen && (
          <>
            {t.account.noAccount}{' '}
            <TextLink to="/sign-up" search={{ next }} underline="always">
              {t.account.signUp}
            </TextLink>
          </>
        )
      }
    >
      <form onSubmit={submit}>
        <Stack>
          {signIn.error && !(needsCode && !form.values.code) && <Alert color="red">{messageOf(signIn.error)}</Alert>}
          <TextInput
            label={t.account.email}
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t.account.password}
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': t.account.showTyped }}
            required
            {...form.getInputProps('password')}
          />
          {askedForCode && (
            <TextInput
              label={t.account.code}
              description={t.account.codeHint}
              autoComplete="one-time-code"
              required
              {...form.getInputProps('code')}
            />
          )}
          <Button type="submit" loading={signIn.isPending} fullWidth>
            {t.account.signIn}
          </Button>
          <TextLink to="/forgot-password" underline="always">
            {t.account.forgot}
          </TextLink>
        </Stack>
      </form>
      <Providers oauth={config.data?.oauth} />
    </AccountLayout>
  );
}

function Providers({ oauth }: { oauth: Record<string, boolean> | undefined }) {
  const enabled = Object.entries(oauth ?? {}).flatMap(([name, on]) => (on ? [name] : []));
  if (enabled.length === 0) return null;
  return (
    <>
      <Divider label={t.account.or} />
      {enabled.map((name) => {
        const [label, Icon] = name in providers ? providers[name as keyof typeof providers] : ['SSO', IconKey];
        return (
          <Button
            key={name}
            component="a"
            href={`/auth/oauth/${name}`}
            variant="default"
            leftSection={<Icon size={18} aria-hidden />}
          >
            {t.account.withProvider(label)}
          </Button>
        );
      })}
    </>
  );
}

export function SignUpPage() {
  const enter = useEntry();
  const { next } = useSearch({ strict: false });
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: { password: (value) => (value.length < 8 ? t.account.newPassword : null) },
  });
  const signUp = useAction<Credentials>({
    run: (body) => unwrap(accountApi.POST('/auth/signup', { body })),
    onDone: () => void enter(),
    quiet: true,
  });
  return (
    <AccountLayout
      title={t.account.signUpTitle}
      footer={
        <>
          {t.account.haveAccount}{' '}
          <TextLink to="/sign-in" search={{ next }} underline="always">
            {t.account.signIn}
          </TextLink>
        </>
      }
    >
      <form onSubmit={form.onSubmit(({ email, password }) => signUp.mutate({ email: email.trim(), password }))}>
        <Stack>
          {signUp.error && <Alert color="red">{messageOf(signUp.error)}</Alert>}
          <TextInput
            label={t.account.email}
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t.account.newPassword}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': t.account.showTyped }}
            required
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={signUp.isPending} fullWidth>
            {t.account.signUp}
          </Button>
        </Stack>
      </form>
    </AccountLayout>
  );
}

export function ForgotPasswordPage() {
  const form = useForm({ initialValues: { email: '' } });
  const request = useAction<{ email: string }>({
    run: (body) => unwrap(accountApi.POST('/auth/request-password-reset', { body })),
    quiet: true,
  });
  return (
    <AccountLayout
      title={t.account.forgotTitle}
      footer={
        <TextLink to="/sign-in" underline="always">
          {t.account.backToSignIn}
        </TextLink>
      }
    >
      <Text c="dimmed">{t.account.forgotText}</Text>
      <form onSubmit={form.onSubmit(({ email }) => request.mutate({ email: email.trim() }))}>
        <Stack>
          {request.error && <Alert color="red">{messageOf(request.error)}</Alert>}
          {request.isSuccess && <Alert color="teal">{t.account.linkSent}</Alert>}
          <TextInput
            label={t.account.email}
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <Button type="submit" loading={request.isPending}>
            {t.account.sendLink}
          </Button>
        </Stack>
      </form>
    </AccountLayout>
  );
}

/** For installations that let only verified addresses in. */
export function VerifyFirstPage() {
  const { data: user } = useMe();
  const enter = useEntry();
  const again = useAction({
    run: () => unwrap(accountApi.POST('/auth/request-verification', { body: {} })),
    done: () => t.account.sentAgain,
  });
  return (
    <AccountLayout title={t.account.verifyTitle} footer={<Anchor href="/auth/logout">{t.frame.signOut}</Anchor>}>
      <Text>{t.account.verifyText(user?.email ?? '')}</Text>
      <Button onClick={() => void enter()}>{t.account.verified}</Button>
      <Button variant="default" onClick={() => again.mutate()} loading={again.isPending}>
        {t.account.sendAgain}
      </Button>
    </AccountLayout>
  );
}
