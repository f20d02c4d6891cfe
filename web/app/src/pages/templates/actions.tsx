import { Button, List, Text } from '@mantine/core';
import { IconArrowBackUp, IconCode, IconCopy, IconDots, IconLayout, IconSend, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { TemplateDraft } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Template } from '../../api/types.ts';
import type { EmailContent } from '../../editor/content.ts';
import { ConvertDialog } from '../../editor/conversion/lazy.tsx';
import type { DraftEditing } from '../../editor/draft/use-draft.ts';
import { t } from '../../texts/index.ts';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { ConfirmationItems, useTemplateUsage } from './history.tsx';

interface TemplateActionsProps {
  template: Template;
  draft: DraftEditing<EmailContent, TemplateDraft>;
  canDiscard: boolean;
  onDiscard(): Promise<unknown>;
}

/** What is done to a whole template. */
export function TemplateActions({ template, draft, canDiscard, onDiscard }: TemplateActionsProps) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'delete' | 'discard' | 'visual' | 'html'>();
  const close = () => setDialog(undefined);
  const { id, name, type } = template;
  const usage = useTemplateUsage(id);
  const params = { params: { path: { id } } };
  const { content } = draft;
  const duplicate = useAction({
    run: () => unwrap(client.POST('/templates/{id}/duplicate', params)),
    done: (copy: Template) => t.templates.duplicated(copy.name),
    changes: [key('templates')],
    onDone: (copy) => void navigate({ to: '/p/$projectId/templates/$id', params: { projectId, id: copy.id } }),
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/templates/{id}', params)),
    done: () => t.templates.deleted(name),
    changes: [key('templates')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/templates', params: { projectId }, ignoreBlocker: true }),
  });
  /** The HTML is what the API has rendered from the saved blocks. */
  const toHtml = async () => {
    const { body } = await draft.flush();
    draft.replace({ subject: content.subject, document: null, body });
  };
  const item = (label: string, Icon: typeof IconCode, onClick: () => void) => ({
    key: label,
    label,
    icon: <Icon size={16} />,
    onClick,
  });
  return (
    <>
      <MenuButton
        items={[
          item(t.templates.useInCampaign, IconSend, () =>
            navigate({ to: '/p/$projectId/campaigns/new', params: { projectId }, search: { templateId: id } }),
          ),
          item(t.common.duplicate, IconCopy, () => duplicate.mutate()),
          content.document
            ? item(t.templates.toHtml, IconCode, () => setDialog('html'))
            : item(t.templates.toVisual, IconLayout, () => setDialog('visual')),
          ...(canDiscard ? [item(t.templates.discard, IconArrowBackUp, () => setDialog('discard'))] : []),
          { ...item(t.common.delete, IconTrash, () => setDialog('delete')), danger: true },
        ]}
      >
        {(props) => (
          <Button variant="default" px="sm" aria-label={t.common.moreActions} {...props}>
            <IconDots size={18} />
          </Button>
        )}
      </MenuButton>
      <ConfirmDialog
        opened={dialog === 'html'}
        onClose={close}
        title={t.templates.toHtmlTitle}
        confirm={t.templates.toHtml}
        onConfirm={toHtml}
      >
        {t.templates.toHtmlText}
      </ConfirmDialog>
      {content.body !== null && (
        <ConvertDialog
          opened={dialog === 'visual'}
          onClose={close}
          subject={content.subject}
          html={content.body}
          type={type}
          onConvert={(document) => draft.replace({ subject: content.subject, document, body: null })}
        />
      )}
      <ConfirmDialog
        danger
        opened={dialog === 'discard'}
        onClose={close}
        title={t.templates.discardTitle}
        confirm={t.templates.discard}
        onConfirm={onDiscard}
      >
        {t.templates.discardText}
      </ConfirmDialog>
      {usage.data?.canDelete === false ? (
        <Dialog opened={dialog === 'delete'} onClose={close} title={t.templates.usedTitle(name)}>
          <Text mb="xs">{t.templates.usedText}</Text>
          <List className="breakable" spacing={4}>
            {usage.data.workflowSteps.map(({ stepId, stepName, workflowName }) => (
              <List.Item key={stepId}>{t.templates.usedInWorkflow(workflowName, stepName)}</List.Item>
            ))}
            <ConfirmationItems confirmations={usage.data.confirmations} />
          </List>
        </Dialog>
      ) : (
        <ConfirmDialog
          danger
          opened={dialog === 'delete'}
          onClose={close}
          title={t.templates.deleteTitle(name)}
          confirm={t.common.delete}
          onConfirm={() => remove.mutateAsync()}
        >
          {t.templates.deleteText}
        </ConfirmDialog>
      )}
    </>
  );
}
