import { Suspense } from 'react';
import type { Violation } from '../api/api-types.ts';
import type { Contact, Template } from '../api/types.ts';
import { MailEditor } from '../ui/mail-editor.tsx';
import { Placeholder } from '../ui/page.tsx';
import type { EmailContent } from './content.ts';
import { VisualEditor } from './lazy.tsx';

interface ContentEditorProps {
  /** The content of the visual editor to begin with: for another one, give another key. */
  content: EmailContent;
  onChange(content: EmailContent): void;
  type: Template['type'];
  /** The topic that the footer of the preview names. */
  topicId?: string | null | undefined;
  people?: Contact[] | undefined;
  readOnly?: boolean;
  subjectError?: string | undefined;
  violations?: Violation[] | undefined;
  /** A place of the document to begin at. */
  showPath?: string | undefined;
}

/** Edits an email with the visual editor, or its HTML. */
export function ContentEditor({ content, onChange, violations, showPath, ...shared }: ContentEditorProps) {
  const { subject, document, body } = content;
  const onSubject = (changed: string) => onChange({ ...content, subject: changed });
  if (document === null)
    return (
      <MailEditor
        {...shared}
        subject={subject}
        onSubject={onSubject}
        body={body}
        onBody={(changed) => onChange({ subject, document: null, body: changed })}
      />
    );
  return (
    <Suspense fallback={<Placeholder lines={12} />}>
      <VisualEditor
        {...shared}
        subject={subject}
        onSubject={onSubject}
        document={document}
        onChange={(changed) => onChange({ subject, document: changed, body: null })}
        violations={violations}
        showPath={showPath}
      />
    </Suspense>
  );
}
