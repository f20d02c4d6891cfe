import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { TemplateDraft } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { contentRequest, type EmailContent, emailContentOf } from '../../editor/content.ts';
import { useDraft } from '../../editor/draft/use-draft.ts';
import { t } from '../../texts/index.ts';
import { showDone } from '../../ui/notify.ts';

/** How often another editor's changes are looked for. */
const LOOK_EVERY_MS = 15_000;

export function useDraftQuery(id: string) {
  const { client, key } = useApi();
  return useQuery({
    queryKey: key('template-draft', id),
    queryFn: () => unwrap(client.GET('/templates/{id}/draft', { params: { path: { id } } })),
    refetchInterval: LOOK_EVERY_MS,
  });
}

/** The draft of a template, and what makes it the template or drops it. */
export function useTemplateDraft(id: string, latest: TemplateDraft) {
  const { client, key } = useApi();
  const { write } = useRights();
  const cache = useQueryClient();
  const params = { path: { id } };
  const [becameHtml, setBecameHtml] = useState(false);
  const read = () => unwrap(client.GET('/templates/{id}/draft', { params }));
  const draft = useDraft<EmailContent, TemplateDraft>({
    name: `template.${id}`,
    latest,
    contentOf: emailContentOf,
    save: (content, expectedRevision) => {
      const body = { subject: content.subject, ...contentRequest(content), expectedRevision };
      return unwrap(client.PUT('/templates/{id}/draft', { params, body }));
    },
    onServer: (server) => cache.setQueryData(key('template-draft', id), server),
    onReplaced: (before, server) => {
      if (before.document && !server.document) setBecameHtml(true);
      else showDone(t.templates.replaced);
    },
    readOnly: !write,
  });
  const changes = [key('templates'), key('template', id), key('template-versions', id)];
  const publish = useAction({
    run: async () => {
      const { revision: expectedRevision } = await draft.flush();
      await unwrap(client.POST('/templates/{id}/draft/publish', { params, body: { expectedRevision } }));
      draft.found(await read());
    },
    done: () => t.templates.published,
    changes,
    quiet: true,
  });
  const discard = useAction({
    run: async () => {
      // A save on its way would make a new draft.
      await draft.flush().catch(() => {});
      await unwrap(client.DELETE('/templates/{id}/draft', { params }));
      draft.load(await read());
    },
    done: () => t.templates.discarded,
    quiet: true,
  });
  const restore = useAction({
    run: async (version: number) => {
      const { revision: expectedRevision, changed } = await draft.flush().catch(() => draft.server);
      await unwrap(
        client.POST('/templates/{id}/versions/{version}/restore', {
          params: { path: { id, version } },
          body: { expectedRevision },
        }),
      );
      if (changed) await unwrap(client.DELETE('/templates/{id}/draft', { params }));
      draft.load(await read());
      setBecameHtml(false);
    },
    done: (_, version) => t.templates.restored(version),
    changes,
    quiet: true,
  });
  return { draft, becameHtml, publish, discard, restore };
}
