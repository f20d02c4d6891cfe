import { Button, Group } from '@mantine/core';
import { IconMail, IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi } from '../../../api/hooks.ts';
import { partTexts, t } from '../../../texts/index.ts';
import { ButtonLink } from '../../../ui/links.tsx';

const NewTemplateDialog = lazy(async () => {
  const [{ NewTemplateDialog }] = await Promise.all([import('../../templates/new-dialog.tsx'), partTexts('editor')]);
  return { default: NewTemplateDialog };
});

interface StepEmailProps {
  workflowId: string;
  stepId: string;
  templateId: string | undefined;
  readOnly: boolean;
  onTemplate(templateId: string): void;
}

/** Leads to the email of a step, or makes one. The page of the template leads back to the step. */
export function StepEmail({ workflowId, stepId, templateId, readOnly, onTemplate }: StepEmailProps) {
  const { projectId } = useApi();
  const navigate = useNavigate();
  const [isNew, setNew] = useState(false);
  const search = { workflow: workflowId, step: stepId };
  return (
    <Group gap="xs">
      {templateId && (
        <ButtonLink
          to="/p/$projectId/templates/$id"
          params={{ projectId, id: templateId }}
          search={search}
          size="xs"
          leftSection={<IconMail size={14} />}
        >
          {readOnly ? t.canvas.showEmail : t.canvas.editEmail}
        </ButtonLink>
      )}
      {!readOnly && (
        <Button variant="default" size="xs" leftSection={<IconPlus size={14} />} onClick={() => setNew(true)}>
          {t.canvas.newEmail}
        </Button>
      )}
      {isNew && (
        <Suspense>
          <NewTemplateDialog
            onClose={() => setNew(false)}
            onCreated={({ id }) => {
              onTemplate(id);
              // What was changed in the workflow is saved when its page is left.
              void navigate({ to: '/p/$projectId/templates/$id', params: { projectId, id }, search });
            }}
          />
        </Suspense>
      )}
    </Group>
  );
}
