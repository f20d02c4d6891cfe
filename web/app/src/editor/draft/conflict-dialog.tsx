import { Button, Group, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { Template } from '../../api/types.ts';
import { relative } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Loaded } from '../../ui/page.tsx';
import type { EmailContent } from '../content.ts';
import { useRendered } from '../use-rendered.ts';

interface ConflictDialogProps {
  opened: boolean;
  /** Decides later: what was written stays in the editor and in this browser. */
  onClose(): void;
  mine: EmailContent;
  theirs: EmailContent & { updatedAt: string; updatedBy?: string | null | undefined };
  type: Template['type'];
  onResolve(choice: 'mine' | 'theirs'): void;
}

/** Shows both versions of an email that two people, or a person and the API, have changed. */
export function ConflictDialog({ opened, onClose, mine, theirs, type, onResolve }: ConflictDialogProps) {
  const who = theirs.updatedBy ?? t.editor.someone;
  const choose = (choice: 'mine' | 'theirs') => {
    onResolve(choice);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t.editor.conflictTitle}
      size="70rem"
      closeButtonProps={{ 'aria-label': t.common.close }}
      attributes={{ header: { role: 'presentation' } }}
    >
      <Stack>
        <Text>{t.editor.conflictText(who, relative(theirs.updatedAt))}</Text>
        {mine.document && !theirs.document && <Text>{t.editor.conflictHtml}</Text>}
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Version title={t.editor.mine} content={mine} type={type}>
            <Button onClick={() => choose('mine')}>{t.editor.keepMine}</Button>
          </Version>
          <Version title={t.editor.theirs} content={theirs} type={type}>
            <Button variant="default" onClick={() => choose('theirs')}>
              {t.editor.takeTheirs}
            </Button>
          </Version>
        </SimpleGrid>
        <Group justify="flex-end">
          <Button variant="subtle" onClick={onClose} data-autofocus>
            {t.editor.decideLater}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

const PREVIEW_HEIGHT = 420;
const VERSION_HEIGHT = PREVIEW_HEIGHT + 136;

interface VersionProps {
  title: string;
  content: EmailContent;
  type: Template['type'];
  children: React.ReactNode;
}

function Version({ title, content, type, children }: VersionProps) {
  const rendered = useRendered(content, { type });
  return (
    // As tall as with the preview, so that the buttons do not move when it is loaded.
    <Stack gap="sm" component="section" aria-label={title} mih={VERSION_HEIGHT}>
      <Group justify="space-between">
        <Title order={3} size="h5">
          {title}
        </Title>
        {children}
      </Group>
      <Loaded query={rendered}>
        {({ previewUrl, text, subject }) => (
          <MailFrame previewUrl={previewPath(previewUrl)} text={text} subject={subject} height={PREVIEW_HEIGHT} />
        )}
      </Loaded>
    </Stack>
  );
}
