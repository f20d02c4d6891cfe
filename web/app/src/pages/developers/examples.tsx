import { Box, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi, useMe, useProject } from '../../api/hooks.ts';
import type { ScopedKey } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { CopyButton } from '../../ui/controls.tsx';
import { type ExampleRequest, exampleCode } from './example-code.ts';

type Language = keyof typeof t.developers.languages;

interface Example {
  name: string;
  text: string;
  request: ExampleRequest;
}

const mayUse = (key: ScopedKey | undefined, ...scopes: ScopedKey['scopes']): string =>
  key?.key && key.scopes.some((scope) => scope === 'all' || scopes.includes(scope))
    ? key.key
    : t.developers.keyPlaceholder;

/** Requests that work as they are, with the project's own key, domain and address. */
export function Examples({ created }: { created: ScopedKey | undefined }) {
  const { client, key, projectId } = useApi();
  const [language, setLanguage] = useState<Language>('curl');
  const project = useProject();
  const { data: user } = useMe();
  const domains = useQuery({
    queryKey: key('domains'),
    queryFn: () => unwrap(client.GET('/domains/project/{projectId}', { params: { path: { projectId } } })),
  });
  const domain = domains.data?.find(({ verified }) => verified)?.domain;
  const to = user?.email ?? '';
  const examples: Example[] = [
    {
      name: t.developers.trackExample,
      text: t.developers.trackText,
      request: {
        method: 'POST',
        path: '/v1/track',
        key: project?.publicKey ?? '',
        body: { email: to, event: 'signup', data: { plan: 'pro' } },
      },
    },
    {
      name: t.developers.sendExample,
      text: domain ? t.developers.sendText : t.developers.noDomain,
      request: {
        method: 'POST',
        path: '/v1/send',
        key: mayUse(created, 'send:write'),
        body: { to, from: `hello@${domain ?? 'example.com'}`, subject: 'Hello', body: '<p>It works.</p>' },
      },
    },
    {
      name: t.developers.contactsExample,
      text: t.developers.contactsText,
      request: { method: 'GET', path: '/contacts?limit=10', key: mayUse(created, 'contacts:read', 'contacts:write') },
    },
  ];
  return (
    <Stack gap="lg">
      <SegmentedControl
        aria-label={t.developers.language}
        value={language}
        onChange={(value) => setLanguage(value as Language)}
        data={(Object.keys(t.developers.languages) as Language[]).map((value) => ({
          value,
          label: t.developers.languages[value],
        }))}
        style={{ alignSelf: 'flex-start' }}
      />
      {examples.map(({ name, text, request }) => {
        const code = exampleCode[language](window.location.origin, request);
        return (
          <Box key={name}>
            <Group justify="space-between" wrap="nowrap" mb={6}>
              <Box>
                <Title order={3} size="h5">
                  {name}
                </Title>
                <Text size="sm" c="dimmed">
                  {text}
                </Text>
              </Box>
              <CopyButton value={code} label={t.developers.exampleOf(name)} />
            </Group>
            <pre className="mail-text" data-example={request.path}>
              {code}
            </pre>
          </Box>
        );
      })}
    </Stack>
  );
}
