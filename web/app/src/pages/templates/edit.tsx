import { Alert, Badge, Grid } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { TemplateDraft } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useRights } from '../../api/hooks.ts';
import type { Template } from '../../api/types.ts';
import { emailContentOf } from '../../editor/content.ts';
import { ContentEditor } from '../../editor/content-editor.tsx';
import { ConflictDialog } from '../../editor/draft/conflict-dialog.tsx';
import { OtherTabNotice } from '../../editor/draft/other-tab.tsx';
import { SaveStatus } from '../../editor/draft/save-status.tsx';
import { t } from '../../texts/index.ts';
import { BackLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { Term } from '../../ui/term.tsx';
import { TestMailButton } from '../../ui/test-mail.tsx';
import { TemplateActions } from './actions.tsx';
import { ApiNotice, UsagePanel, VersionsPanel } from './history.tsx';
import { PublishButton } from './publish.tsx';
import { SettingsPanel } from './settings.tsx';
import { useDraftQuery, useTemplateDraft } from './use-template-draft.ts';

/** Leads to the list, or to the workflow step that sends the template. */
function Back() {
  const { projectId } = useApi();
  const { workflow, step } = useSearch({ from: '/signed-in/p/$projectId/templates/$id' });
  if (workflow)
    return (
      <BackLink to="/p/$projectId/workflows/$id" params={{ projectId, id: workflow }} search={{ step }}>
        {t.templates.backToWorkflow}
      </BackLink>
    );
  return (
    <BackLink to="/p/$projectId/templates" params={{ projectId }}>
      {t.templates.title}
    </BackLink>
  );
}

export function TemplatePage() {
  const { client, key } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/templates/$id' });
  const template = useQuery({
    queryKey: key('template', id),
    queryFn: () => unwrap(client.GET('/templates/{id}', { params: { path: { id } } })),
  });
  const draft = useDraftQuery(id);
  if (template.data && draft.data) return <EditTemplate key={id} template={template.data} latest={draft.data} />;
  return (
    <Page title={t.templates.title} back={<Back />}>
      <Loaded query={template}>{() => <Loaded query={draft}>{() => null}</Loaded>}</Loaded>
    </Page>
  );
}

function EditTemplate({ template, latest }: { template: Template; latest: TemplateDraft }) {
  const { client } = useApi();
  const { write } = useRights();
  const { id, name, type } = template;
  const { draft, becameHtml, publish, discard, restore } = useTemplateDraft(id, latest);
  const { content, server, conflict, save } = draft;
  const isChanged = server.changed || draft.isDirty;
  const [comparing, { open: compare, close: closeConflict }] = useDisclosure();
  const hasConflict = conflict !== undefined;
  useEffect(() => {
    if (hasConflict) compare();
  }, [hasConflict, compare]);
  return (
    <Page
      title={name}
      back={<Back />}
      badge={
        <>
          <Badge variant="default">{t.templates.types[type]}</Badge>
          {type === 'HEADLESS' && <Term name="headless" word={t.templates.types.HEADLESS} />}
          {isChanged && <Badge color="yellow">{t.templates.unpublished}</Badge>}
        </>
      }
      description={write && <SaveStatus draft={draft} onConflict={compare} />}
      actions={
        write && (
          <>
            <TestMailButton
              disabled={isChanged}
              send={(body) => unwrap(client.POST('/templates/{id}/test', { params: { path: { id } }, body }))}
            />
            <PublishButton
              templateId={id}
              draft={draft}
              disabled={!isChanged || hasConflict || save.kind === 'refused'}
              onPublish={() => publish.mutateAsync()}
            />
            <TemplateActions
              template={template}
              draft={draft}
              canDiscard={server.changed}
              onDiscard={() => discard.mutateAsync()}
            />
          </>
        )
      }
    >
      {write && <OtherTabNotice name={`template.${id}`} />}
      {becameHtml ? (
        <Alert color="yellow" title={t.templates.becameHtml}>
          {t.templates.becameHtmlText}
        </Alert>
      ) : (
        content.document === null && <ApiNotice templateId={id} onRestore={(version) => restore.mutateAsync(version)} />
      )}
      <SettingsPanel template={template} />
      <Panel title={t.templates.content}>
        <ContentEditor
          key={draft.generation}
          content={content}
          onChange={draft.change}
          type={type}
          topicId={template.topicId}
          readOnly={!write}
          violations={save.kind === 'refused' ? save.violations : undefined}
        />
      </Panel>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <VersionsPanel templateId={id} onRestore={(version) => restore.mutateAsync(version)} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <UsagePanel templateId={id} />
        </Grid.Col>
      </Grid>
      {conflict && (
        <ConflictDialog
          opened={comparing}
          onClose={closeConflict}
          mine={content}
          theirs={{ ...emailContentOf(conflict), updatedAt: conflict.updatedAt, updatedBy: conflict.updatedBy }}
          type={type}
          onResolve={draft.resolve}
        />
      )}
    </Page>
  );
}
