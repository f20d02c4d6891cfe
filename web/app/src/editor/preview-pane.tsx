import { Alert, Group, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { messageOf } from '../api/problem.ts';
import { number } from '../format.ts';
import { t } from '../texts/index.ts';
import { EmailWarnings } from '../ui/email-warnings.tsx';
import { PersonSelect, previewPath } from '../ui/mail-editor.tsx';
import { MailFrame } from '../ui/mail-frame.tsx';
import { Placeholder } from '../ui/page.tsx';
import { useRendered } from './use-rendered.ts';
import type { VisualEditorProps } from './visual-editor.tsx';

/** They are about whole emails. */
const NOT_OF_BLOCKS = new Set(['preheader_missing', 'text_thin', 'unsubscribe_missing']);

interface PreviewPaneProps extends VisualEditorProps {
  /** Leads to a place of the document. */
  onShow(path: string): void;
}

/** The email as the API renders it for a contact, with what may be wrong with it. */
export function PreviewPane(props: PreviewPaneProps) {
  const { document, subject, type, topicId, people, onShow, readOnly, role = 'EMAIL' } = props;
  const [contactId, setContactId] = useState<string | null>(null);
  const person = contactId ?? people?.[0]?.id ?? null;
  const [content] = useDebouncedValue({ subject, document, body: null }, 300);
  const rendered = useRendered(content, { type, topicId, contactId: person });
  const { data } = rendered;
  const warnings =
    data?.warnings
      .filter(({ code }) => code !== 'subject_empty' || person !== null)
      .filter(({ code }) => role === 'EMAIL' || !NOT_OF_BLOCKS.has(code)) ?? [];
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <PersonSelect people={people} value={person} onChange={setContactId} />
        {data && (
          <Text size="sm" c="dimmed">
            {t.templates.size(number(Math.ceil(data.size / 1000)))}
          </Text>
        )}
      </Group>
      {rendered.error && <Alert color="red">{messageOf(rendered.error)}</Alert>}
      {data && data.faults.length > 0 && (
        <Alert color="red" title={t.templates.faults(data.faults.length)}>
          {data.faults.map(({ part, line, column, message }) => (
            <div key={`${part} ${line} ${column} ${message}`}>{message}</div>
          ))}
        </Alert>
      )}
      {data && <EmailWarnings warnings={warnings} {...(!readOnly && { onShow })} />}
      {data && (
        <MailFrame previewUrl={previewPath(data.previewUrl)} text={data.text} subject={data.subject} height={640} />
      )}
      {rendered.isPending && <Placeholder lines={8} />}
    </Stack>
  );
}
