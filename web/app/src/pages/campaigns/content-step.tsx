import { Button, Stack } from '@mantine/core';
import { IconCode, IconLayout, IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import type { Violation } from '../../api/api-types.ts';
import type { EmailContent } from '../../editor/content.ts';
import { ContentEditor } from '../../editor/content-editor.tsx';
import { ConvertDialog } from '../../editor/conversion/lazy.tsx';
import { GalleryDialog } from '../../editor/gallery/gallery-dialog.tsx';
import { t } from '../../texts/index.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Panel } from '../../ui/page.tsx';
import { FaultAlert, type StepProps } from './composer-steps.tsx';
import { emailOf } from './content-start.tsx';
import { TemplateSelect } from './template-select.tsx';

interface ContentStepProps extends StepProps {
  email: EmailContent;
  /** The key of the editor, which begins anew when the content was replaced. */
  generation: number;
  /** A content that the editor did not make itself. */
  replace(email: EmailContent): void;
  /** Returns the HTML that the API has stored. */
  storedHtml(): Promise<string>;
  violations: Violation[] | undefined;
  /** A place of the document to begin at. */
  showPath: string | undefined;
}

/** The email of a stored campaign. */
export function ContentStep(props: ContentStepProps) {
  const { draft, email, change, faults, preview, generation, replace, storedHtml, violations, showPath } = props;
  const [dialog, setDialog] = useState<'start' | 'visual' | 'html'>();
  const close = () => setDialog(undefined);
  const begin = (chosen: EmailContent) => {
    replace(chosen);
    close();
  };
  return (
    <Panel
      title={t.templates.content}
      actions={
        <>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconRefresh size={14} />}
            onClick={() => setDialog('start')}
          >
            {t.campaigns.startAgain}
          </Button>
          {email.document ? (
            <Button variant="default" size="xs" leftSection={<IconCode size={14} />} onClick={() => setDialog('html')}>
              {t.templates.toHtml}
            </Button>
          ) : (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconLayout size={14} />}
              onClick={() => setDialog('visual')}
            >
              {t.templates.toVisual}
            </Button>
          )}
        </>
      }
    >
      <Stack gap="lg">
        <ContentEditor
          key={generation}
          content={email}
          onChange={(changed) => change({ email: changed })}
          type={draft.type}
          topicId={draft.topicId}
          people={preview.data?.sample}
          subjectError={faults.subject}
          violations={violations}
          showPath={showPath}
        />
        {faults.email && <FaultAlert text={faults.email} />}
      </Stack>
      <GalleryDialog
        opened={dialog === 'start'}
        onClose={close}
        onChoose={(chosen) => begin(emailOf(chosen, chosen.subject || email.subject))}
      >
        <TemplateSelect onChoose={begin} />
      </GalleryDialog>
      <ConfirmDialog
        opened={dialog === 'html'}
        onClose={close}
        title={t.templates.toHtmlTitle}
        confirm={t.templates.toHtml}
        onConfirm={async () => replace({ subject: email.subject, document: null, body: await storedHtml() })}
      >
        {t.campaigns.toHtmlText}
      </ConfirmDialog>
      {email.body !== null && (
        <ConvertDialog
          opened={dialog === 'visual'}
          onClose={close}
          subject={email.subject}
          html={email.body}
          type={draft.type}
          onConvert={(document) => replace({ subject: email.subject, document, body: null })}
        />
      )}
    </Panel>
  );
}
