import { Button, List, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconWorldUpload } from '@tabler/icons-react';
import type { TemplateDraft } from '../../api/api-types.ts';
import type { EmailContent } from '../../editor/content.ts';
import type { DraftEditing } from '../../editor/draft/use-draft.ts';
import { t } from '../../texts/index.ts';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { showProblem } from '../../ui/notify.ts';
import { useTemplateUsage } from './history.tsx';

interface PublishButtonProps {
  templateId: string;
  draft: DraftEditing<EmailContent, TemplateDraft>;
  disabled: boolean;
  onPublish(): Promise<unknown>;
}

/** Says what publishing means, or what keeps the draft from it, before the draft goes live. */
export function PublishButton({ templateId, draft, disabled, onPublish }: PublishButtonProps) {
  const [opened, { open, close }] = useDisclosure();
  const usage = useTemplateUsage(templateId);
  const { faults } = draft.server;
  // The faults are those of what is saved.
  const start = () => void draft.flush().then(open, showProblem);
  return (
    <>
      <Button leftSection={<IconWorldUpload size={16} />} disabled={disabled} onClick={start}>
        {t.templates.publish}
      </Button>
      {faults.length > 0 ? (
        <Dialog opened={opened} onClose={close} title={t.templates.cannotPublish}>
          <Text mb="xs">{t.templates.cannotPublishText}</Text>
          <List className="breakable">
            {faults.map(({ field, line, column, message }) => (
              <List.Item key={`${field}:${line}:${column}:${message}`}>
                {t.templates.faultAt(t.templates.parts[field] ?? field, line, column)}: {message}
              </List.Item>
            ))}
          </List>
        </Dialog>
      ) : (
        <ConfirmDialog
          opened={opened}
          onClose={close}
          title={t.templates.publishTitle}
          confirm={t.templates.publishNow}
          onConfirm={onPublish}
        >
          {t.templates.publishText}
          {(usage.data?.workflowSteps.length ?? 0) > 0 && (
            <List mt="xs">
              {usage.data?.workflowSteps.map(({ stepId, stepName, workflowName }) => (
                <List.Item key={stepId}>{t.templates.usedInWorkflow(workflowName, stepName)}</List.Item>
              ))}
            </List>
          )}
        </ConfirmDialog>
      )}
    </>
  );
}
