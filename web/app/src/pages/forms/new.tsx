import { Alert, Button } from '@mantine/core';
import { IconDeviceFloppy } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Form } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { BackLink } from '../../ui/links.tsx';
import { Page } from '../../ui/page.tsx';
import { DEFAULT } from '../topics/form.ts';
import { emptyDraft, type FormDraft, requestOf } from './draft.ts';
import { FormEditor } from './editor.tsx';

/** A new form is PAUSED until it is published, so that it can be made before there is a sender. */
export function NewFormPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(emptyDraft);
  const [formKey, setKey] = useState('');
  const [touched, setTouched] = useState(false);
  const create = useAction<void, Form>({
    run: () =>
      unwrap(
        client.POST('/forms', {
          body: { ...requestOf(draft), status: 'PAUSED', ...(formKey.trim() && { key: formKey.trim() }) },
        }),
      ),
    done: () => t.forms.created,
    changes: [key('forms')],
    quiet: true,
    onDone: ({ id }) =>
      void navigate({ to: '/p/$projectId/forms/$id', params: { projectId, id }, ignoreBlocker: true }),
  });
  useWarnBeforeLeaving(touched);
  const change = (part: Partial<FormDraft>) => {
    setTouched(true);
    setDraft((old) => ({ ...old, ...part }));
  };
  return (
    <Page
      title={t.forms.new}
      back={
        <BackLink to="/p/$projectId/forms" params={{ projectId }}>
          {t.forms.title}
        </BackLink>
      }
      actions={
        write && (
          <Button
            leftSection={<IconDeviceFloppy size={16} />}
            loading={create.isPending}
            disabled={!draft.texts[DEFAULT]?.name.trim()}
            onClick={() => create.mutate()}
          >
            {t.forms.create}
          </Button>
        )
      }
    >
      {create.error && <Alert color="red">{messageOf(create.error)}</Alert>}
      <FormEditor draft={draft} onChange={change} readOnly={!write} formKey={formKey} onKey={setKey} />
    </Page>
  );
}
