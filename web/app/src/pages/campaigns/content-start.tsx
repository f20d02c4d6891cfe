import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { EmailContent } from '../../editor/content.ts';
import { Gallery, type StartContent } from '../../editor/gallery/gallery.tsx';
import { t } from '../../texts/index.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Panel } from '../../ui/page.tsx';
import { FaultAlert } from './composer-steps.tsx';
import type { Faults } from './draft.ts';
import { TemplateSelect } from './template-select.tsx';

interface ContentStartProps {
  faults: Faults;
  busy: boolean;
  onBegin(email: EmailContent): void;
}

/** What the email of a new campaign begins with: a design, a template of the project, or nothing. */
export function ContentStart({ faults, busy, onBegin }: ContentStartProps) {
  const [start, setStart] = useState<StartContent>();
  const choose = (chosen: StartContent) => {
    if (chosen.subject) onBegin(emailOf(chosen, chosen.subject));
    else setStart(chosen);
  };
  return (
    <Panel title={t.campaigns.startTitle}>
      <Stack gap="lg">
        {faults.email && <FaultAlert text={faults.email} />}
        <TemplateSelect onChoose={onBegin} />
        <Gallery onChoose={choose} />
      </Stack>
      {start && (
        <SubjectDialog
          busy={busy}
          onClose={() => setStart(undefined)}
          onSubject={(subject) => {
            setStart(undefined);
            onBegin(emailOf(start, subject));
          }}
        />
      )}
    </Panel>
  );
}

/** The email that a choice of the gallery begins with. */
export const emailOf = ({ document }: StartContent, subject: string): EmailContent =>
  document ? { subject, document, body: null } : { subject, document: null, body: t.templates.starter };

interface SubjectDialogProps {
  busy: boolean;
  onClose(): void;
  onSubject(subject: string): void;
}

/** A campaign cannot be stored without a subject. */
function SubjectDialog({ busy, onClose, onSubject }: SubjectDialogProps) {
  const form = useForm({ initialValues: { subject: '' } });
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={t.campaigns.subjectTitle}
      error={null}
      busy={busy}
      submit={t.common.next}
      onSubmit={form.onSubmit(({ subject }) => onSubject(subject.trim()))}
    >
      <TextInput label={t.templates.subject} required data-autofocus {...form.getInputProps('subject')} />
    </FormDialog>
  );
}
