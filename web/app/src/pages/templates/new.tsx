import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { Gallery, type StartContent } from '../../editor/gallery/gallery.tsx';
import { t } from '../../texts/index.ts';
import { BackLink } from '../../ui/links.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { CreateDialog } from './new-dialog.tsx';

/** Begins with what the template looks like; name and type are asked for then. */
export function NewTemplatePage() {
  const { projectId } = useApi();
  const navigate = useNavigate();
  const [start, setStart] = useState<StartContent>();
  return (
    <Page
      title={t.templates.newTitle}
      description={t.templates.newText}
      back={
        <BackLink to="/p/$projectId/templates" params={{ projectId }}>
          {t.templates.title}
        </BackLink>
      }
    >
      <Panel title={t.templates.chooseStart}>
        <Gallery onChoose={setStart} />
      </Panel>
      {start && (
        <CreateDialog
          start={start}
          onClose={() => setStart(undefined)}
          onCreated={({ id }) => void navigate({ to: '/p/$projectId/templates/$id', params: { projectId, id } })}
        />
      )}
    </Page>
  );
}
