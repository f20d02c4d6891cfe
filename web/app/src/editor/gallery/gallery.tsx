import './gallery.css';
import { Text } from '@mantine/core';
import { IconCode, IconFileText } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { gallery } from '../../../../../platform/mail-document/gallery/index.ts';
import type { MailDocument as GalleryDocument } from '../../../../../platform/mail-document/types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useProject } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { previewPath } from '../../ui/mail-editor.tsx';
import { emptyDocument, type MailDocument } from '../schema/document.ts';

/** What a new email begins with. */
export interface StartContent {
  /** Suggested for the email; empty for a blank one. */
  name: string;
  subject: string;
  /** Whether subscribers get it, or people after an action of theirs. */
  type: 'MARKETING' | 'TRANSACTIONAL';
  /** Undefined for HTML. */
  document: MailDocument | undefined;
}

interface GalleryProps {
  onChoose(start: StartContent): void;
  /** Where HTML is no choice, such as for saved blocks. */
  withoutHtml?: boolean;
}

/** The API renders this many previews of a project at once, and answers 429 to those that wait too long. */
const RENDERED_AT_ONCE = 2;

/** The starting documents in the brand of the project, a blank one, and HTML. */
export function Gallery({ onChoose, withoutHtml = false }: GalleryProps) {
  const language = useProject()?.language.startsWith('de') ? 'de' : 'en';
  const blank = { name: '', subject: '', type: 'MARKETING' as const };
  const [rendered, setRendered] = useState(RENDERED_AT_ONCE);
  const renderNext = useCallback(() => setRendered((count) => count + 1), []);
  return (
    <ul className="gallery">
      <Card
        name={t.editor.blank}
        description={t.editor.blankText}
        picture={<IconFileText size={48} stroke={1.2} aria-hidden />}
        onChoose={() => onChoose({ ...blank, document: emptyDocument(language) })}
      />
      {gallery.map(({ id, name, description, subject, documents, isTransactional }, index) => (
        <Card
          key={id}
          name={name[language]}
          description={description[language]}
          picture={
            <Thumbnail
              id={id}
              document={editable(documents[language])}
              isWanted={index < rendered}
              onRendered={renderNext}
            />
          }
          onChoose={() =>
            onChoose({
              name: name[language],
              subject: subject[language],
              type: isTransactional ? 'TRANSACTIONAL' : 'MARKETING',
              document: editable(documents[language]),
            })
          }
        />
      ))}
      {!withoutHtml && (
        <Card
          name={t.editor.startHtml}
          description={t.editor.startHtmlText}
          picture={<IconCode size={48} stroke={1.2} aria-hidden />}
          onChoose={() => onChoose({ ...blank, document: undefined })}
        />
      )}
    </ul>
  );
}

/** The type of the editor allows attributes that it does not know. */
const editable = (document: GalleryDocument): MailDocument =>
  ({ ...document, theme: { ...document.theme } }) as MailDocument;

interface CardProps {
  name: string;
  description: string;
  picture: ReactNode;
  onChoose(): void;
}

const Card = ({ name, description, picture, onChoose }: CardProps) => (
  <li>
    <div className="gallery-card">
      <div className="gallery-picture">{picture}</div>
      <div className="gallery-text">
        <button type="button" onClick={onChoose}>
          {name}
        </button>
        <Text size="sm" c="dimmed">
          {description}
        </Text>
      </div>
    </div>
  </li>
);

interface ThumbnailProps {
  id: string;
  document: MailDocument;
  /** Its turn has come. */
  isWanted: boolean;
  onRendered(): void;
}

/** A starting document as the API renders it with the brand kit. */
function Thumbnail({ id, document, isWanted, onRendered }: ThumbnailProps) {
  const { client, key } = useApi();
  const rendered = useQuery({
    queryKey: key('gallery', id, document.lang),
    queryFn: () => unwrap(client.POST('/render', { body: { document: document as never } })),
    // A preview is there for an hour.
    staleTime: 30 * 60_000,
    gcTime: 45 * 60_000,
    retry: false,
    enabled: isWanted,
  });
  const { isFetched } = rendered;
  useEffect(() => {
    if (isFetched) onRendered();
  }, [isFetched, onRendered]);
  if (!rendered.data) return null;
  return (
    <iframe
      sandbox=""
      src={previewPath(rendered.data.previewUrl)}
      title={t.editor.thumbnail}
      aria-hidden
      tabIndex={-1}
      referrerPolicy="no-referrer"
    />
  );
}
