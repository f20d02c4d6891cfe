import { Alert, Button, Checkbox, Group, List, Modal, Stack, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useProject } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Template } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { previewPath } from '../../ui/mail-editor.tsx';
import { MailFrame } from '../../ui/mail-frame.tsx';
import { Placeholder } from '../../ui/page.tsx';
import type { EmailContent } from '../content.ts';
import type { MailDocument } from '../schema/document.ts';
import { useRendered } from '../use-rendered.ts';
import { convertHtml } from './convert.ts';
import type { Loss } from './report.ts';

interface ConvertDialogProps {
  opened: boolean;
  onClose(): void;
  subject: string;
  html: string;
  type: Template['type'];
  onConvert(document: MailDocument): void;
}

/** Shows what HTML becomes in the visual editor, and what is lost on the way, before it is converted. */
export const ConvertDialog = (props: ConvertDialogProps) => (
  <Modal
    opened={props.opened}
    onClose={props.onClose}
    title={t.editor.convertTitle}
    size="60rem"
    closeButtonProps={{ 'aria-label': t.common.close }}
    attributes={{ header: { role: 'presentation' } }}
  >
    {props.opened && <ConvertForm {...props} />}
  </Modal>
);

function ConvertForm({ onClose, subject, html, type, onConvert }: ConvertDialogProps) {
  const lang = useProject()?.language ?? 'en';
  const [insist, setInsist] = useState(false);
  const kept = useMemo(() => convertHtml(html, { lang, insist: false }), [html, lang]);
  const { document, losses, keptBecause } = useMemo(
    () => (insist ? convertHtml(html, { lang, insist }) : kept),
    [html, lang, insist, kept],
  );
  const content: EmailContent = { subject, document, body: null };
  const rendered = useRendered(content, { type });
  const cleaned = rendered.data?.warnings.filter(({ code }) => code === 'html_cleaned') ?? [];
  return (
    <Stack>
      <Text>{t.editor.convertText}</Text>
      {kept.keptBecause && kept.keptBecause !== 'size' && (
        <Checkbox
          label={t.editor.convertInsist}
          description={t.editor.keptBecause[kept.keptBecause]}
          checked={insist}
          onChange={(event) => setInsist(event.currentTarget.checked)}
        />
      )}
      {keptBecause === 'size' && <Alert color="yellow">{t.editor.keptBecause.size}</Alert>}
      <section aria-label={t.editor.losses} data-losses={losses.length + cleaned.length}>
        <Title order={3} size="h5" mb={4}>
          {t.editor.losses}
        </Title>
        {losses.length + cleaned.length === 0 ? (
          <Text c="dimmed">{t.editor.noLosses}</Text>
        ) : (
          <List>
            {losses.map((loss) => (
              <LossItem key={loss.kind} loss={loss} />
            ))}
            {cleaned.map(({ message, path }) => (
              <List.Item key={`${path} ${message}`}>{message}</List.Item>
            ))}
          </List>
        )}
      </section>
      {rendered.error && <Alert color="red">{messageOf(rendered.error)}</Alert>}
      {rendered.isPending && <Placeholder lines={6} />}
      {rendered.data && !rendered.error && (
        <MailFrame previewUrl={previewPath(rendered.data.previewUrl)} text={rendered.data.text} height={360} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t.common.cancel}
        </Button>
        <Button
          disabled={!rendered.data || rendered.isError}
          loading={rendered.isFetching}
          onClick={() => {
            onConvert(document);
            onClose();
          }}
        >
          {t.editor.convert}
        </Button>
      </Group>
    </Stack>
  );
}

const LossItem = ({ loss: { kind, count, examples } }: { loss: Loss }) => (
  <List.Item>
    {t.editor.lossKinds[kind](count)}
    {examples.length > 0 && (
      <Text component="div" size="sm" c="dimmed" className="breakable" ff="monospace">
        {examples.join(' · ')}
      </Text>
    )}
  </List.Item>
);
