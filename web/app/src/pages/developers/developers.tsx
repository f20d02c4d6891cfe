import { Alert, Button, Stack, Tabs, Text } from '@mantine/core';
import { IconBook2, IconPlus } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useRights } from '../../api/hooks.ts';
import type { ScopedKey } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { Examples } from './examples.tsx';
import { KeyPairPanel } from './key-pair.tsx';
import { KeysTab } from './keys.tsx';
import { PolicyTab } from './policy.tsx';
import { RequestsTab } from './requests.tsx';
import type { DevelopersSearch } from './search.ts';

const CreateKeyDialog = lazy(() =>
  import('./create-key.tsx').then(({ CreateKeyDialog }) => ({ default: CreateKeyDialog })),
);
type Tab = keyof typeof t.developers.tabs;

export function DevelopersPage() {
  const { admin } = useRights();
  const { projectId } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/developers' });
  const navigate = useNavigate({ from: '/p/$projectId/developers' });
  // Kept in memory only, so that the examples can use it: the API shows a key only once.
  const [created, setCreated] = useState<ScopedKey>();
  const names = t.developers.tabs;
  const tabs: Tab[] = admin ? ['keys', 'examples', 'policy', 'requests'] : ['examples'];
  const tab = tabs.find((name) => name === search.tab) ?? tabs[0] ?? 'examples';
  const change = (next: DevelopersSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  return (
    <Page
      title={t.developers.title}
      description={t.developers.description}
      actions={
        <>
          <Button
            component="a"
            href={`/docs/api?project=${projectId}`}
            variant="default"
            leftSection={<IconBook2 size={16} />}
          >
            {t.developers.reference}
          </Button>
          {admin && (
            <Button leftSection={<IconPlus size={16} />} onClick={() => change({ add: true })}>
              {t.developers.create}
            </Button>
          )}
        </>
      }
    >
      {!admin && <Alert color="gray">{t.developers.adminOnly}</Alert>}
      <Tabs value={tab} onChange={(next) => void navigate({ search: { tab: next as Tab }, replace: true })}>
        <Tabs.List mb="lg">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {names[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((name) => (
          <Tabs.Panel key={name} value={name}>
            {name === tab && <TabContent tab={name} created={created} />}
          </Tabs.Panel>
        ))}
      </Tabs>
      {admin && search.add && (
        <Suspense>
          <CreateKeyDialog onCreated={setCreated} onClose={() => change({ add: undefined })} />
        </Suspense>
      )}
    </Page>
  );
}

function TabContent({ tab, created }: { tab: Tab; created: ScopedKey | undefined }) {
  if (tab === 'keys')
    return (
      <Stack gap="lg">
        <KeysTab />
        <KeyPairPanel />
      </Stack>
    );
  if (tab === 'policy') return <PolicyTab />;
  if (tab === 'requests') return <RequestsTab />;
  return (
    <Panel title={t.developers.examples} description={t.developers.examplesText}>
      <Text size="sm" mb="md">
        {created ? t.developers.keyInExamples(created.name) : t.developers.keyMissing}
      </Text>
      <Examples created={created} />
    </Panel>
  );
}
