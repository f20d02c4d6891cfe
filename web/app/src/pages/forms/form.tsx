import { Alert, Badge, Button, Tabs } from '@mantine/core';
import { IconDeviceFloppy, IconExternalLink, IconWorldUpload } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Form, UpdateFormRequest } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { BackLink } from '../../ui/links.tsx';
import { Loaded, Page } from '../../ui/page.tsx';
import { DEFAULT } from '../topics/form.ts';
import { FormActions } from './actions.tsx';
import { draftOf, type FormDraft, requestOf } from './draft.ts';
import { FormEditor } from './editor.tsx';
import { EmbedTab } from './embed.tsx';
import { StatsTab } from './stats.tsx';
import { AttackBanner, FormStatusBadges } from './status.tsx';
import { SubmissionsTab } from './submissions.tsx';

const tabs = ['edit', 'embed', 'submissions', 'stats'] as const;

export function FormPage() {
  const { client, key, projectId } = useApi();
  const cache = useQueryClient();
  const { id } = useParams({ from: '/signed-in/p/$projectId/forms/$id' });
  const form = useQuery({
    queryKey: key('form', id),
    queryFn: () => unwrap(client.GET('/forms/{id}', { params: { path: { id } } })),
  });
  // An attack may begin or end.
  useLive([`form:${id}`], ({ data }) => cache.setQueryData(key('form', id), data));
  if (form.data) return <ExistingForm key={id} form={form.data} />;
  return (
    <Page
      title={t.forms.title}
      back={
        <BackLink to="/p/$projectId/forms" params={{ projectId }}>
          {t.forms.title}
        </BackLink>
      }
    >
      <Loaded query={form}>{() => null}</Loaded>
    </Page>
  );
}

function ExistingForm({ form }: { form: Form }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const search = useSearch({ from: '/signed-in/p/$projectId/forms/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/forms/$id' });
  const [stored, setStored] = useState(() => draftOf(form));
  const [draft, setDraft] = useState(stored);
  const { id, name, status, urls } = form;
  const isDirty = draft !== stored;
  const isNamed = Boolean(draft.texts[DEFAULT]?.name.trim());
  const tab = tabs.find((one) => one === search.tab) ?? 'edit';
  useWarnBeforeLeaving(isDirty);
  const save = useAction<{ sent: FormDraft; publish: boolean }, Form>({
    run: ({ sent, publish }) => {
      const body: UpdateFormRequest = { ...requestOf(sent), ...(publish && { status: 'ACTIVE' }) };
      return unwrap(client.PATCH('/forms/{id}', { params: { path: { id } }, body }));
    },
    done: (saved, { publish }) => (publish ? t.forms.published(saved.name) : t.forms.saved),
    changes: [key('forms'), key('form', id), key('form-embed', id)],
    quiet: true,
    onDone: (_, { sent }) => setStored(sent),
  });
  return (
    <Page
      title={name}
      back={
        <BackLink to="/p/$projectId/forms" params={{ projectId }}>
          {t.forms.title}
        </BackLink>
      }
      badge={
        <>
          <FormStatusBadges form={form} />
          {isDirty && <Badge color="yellow">{t.common.unsaved}</Badge>}
        </>
      }
      description={status === 'PAUSED' && t.forms.pausedHint}
      actions={
        <>
          {status === 'ACTIVE' && (
            <Button
              component="a"
              variant="default"
              leftSection={<IconExternalLink size={16} />}
              href={urls.page}
              target="_blank"
              rel="noopener"
            >
              {t.forms.show}
            </Button>
          )}
          {write && (
            <>
              <Button
                variant={status === 'PAUSED' ? 'default' : 'filled'}
                leftSection={<IconDeviceFloppy size={16} />}
                loading={save.isPending && save.variables?.publish === false}
                disabled={!isDirty || !isNamed}
                onClick={() => save.mutate({ sent: draft, publish: false })}
              >
                {t.common.save}
              </Button>
              {status === 'PAUSED' && (
                <Button
                  leftSection={<IconWorldUpload size={16} />}
                  loading={save.isPending && save.variables?.publish === true}
                  disabled={!isNamed}
                  onClick={() => save.mutate({ sent: draft, publish: true })}
                >
                  {isDirty ? t.forms.saveAndPublish : t.forms.publish}
                </Button>
              )}
              <FormActions form={form} />
            </>
          )}
        </>
      }
    >
      <AttackBanner forms={[form]} />
      {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ search: { tab: next === 'edit' ? undefined : (next ?? undefined) }, replace: true })
        }
      >
        <Tabs.List mb="lg">
          {tabs.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {t.forms.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="edit">
          {tab === 'edit' && (
            <FormEditor
              draft={draft}
              onChange={(part) => setDraft((old) => ({ ...old, ...part }))}
              readOnly={!write}
              formKey={form.key}
            />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="embed">{tab === 'embed' && <EmbedTab form={form} />}</Tabs.Panel>
        <Tabs.Panel value="submissions">{tab === 'submissions' && <SubmissionsTab formId={id} />}</Tabs.Panel>
        <Tabs.Panel value="stats">{tab === 'stats' && <StatsTab formId={id} />}</Tabs.Panel>
      </Tabs>
    </Page>
  );
}
