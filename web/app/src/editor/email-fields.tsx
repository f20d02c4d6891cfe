import { Box, Grid, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { t } from '../texts/index.ts';
import { ChipField } from './chip-field.tsx';
import type { DocumentNode } from './schema/document.ts';
import { lineOf, lineText, templateOf } from './schema/line.ts';
import type { VisualEditorProps } from './visual-editor.tsx';

/** Subject and preheader, as an inbox shows them. */
export function EmailFields(props: VisualEditorProps) {
  const { document, onChange, subject, onSubject, readOnly = false, subjectError } = props;
  const line = useMemo(() => lineOf(subject), [subject]);
  const preheader = document.preheader ?? [];
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="sm">
          <ChipField
            label={t.editor.subject}
            value={line}
            onChange={(value) => onSubject(templateOf(value))}
            required
            isTemplate
            readOnly={readOnly}
            error={subjectError}
          />
          <ChipField
            className="preheader"
            label={t.editor.preheader}
            description={t.editor.preheaderHint}
            value={preheader}
            onChange={(value) => onChange({ ...document, preheader: value })}
            readOnly={readOnly}
          />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <InboxPreview subject={line} preheader={preheader} />
      </Grid.Col>
    </Grid>
  );
}

function InboxPreview({ subject, preheader }: { subject: DocumentNode[]; preheader: DocumentNode[] }) {
  const shown = (line: DocumentNode[]) => lineText(line.map(namedWithoutFallback), {});
  return (
    <Box className="inbox-preview" role="group" aria-label={t.editor.inbox}>
      <Text size="xs" c="dimmed">
        {t.editor.inbox}
      </Text>
      <Text fw={600} truncate>
        {shown(subject) || t.editor.noSubject}
      </Text>
      <Text size="sm" c="dimmed" lineClamp={2}>
        {shown(preheader) || t.editor.noPreheader}
      </Text>
    </Box>
  );
}

/** No recipient is chosen: a variable without a fallback shows its name. */
const namedWithoutFallback = (node: DocumentNode): DocumentNode =>
  node.type === 'variable' && typeof node.attrs?.fallback !== 'string'
    ? { type: 'text', text: `[${String(node.attrs?.name)}]` }
    : node;
