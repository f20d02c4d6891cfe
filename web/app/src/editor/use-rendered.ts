import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { unwrap } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';
import type { Template } from '../api/types.ts';
import { contentRequest, type EmailContent } from './content.ts';

interface Rendering {
  type: Template['type'];
  topicId?: string | null | undefined;
  contactId?: string | null | undefined;
}

/** The email as the API renders it, for a contact or for a sample one. */
export function useRendered(content: EmailContent, { type, topicId, contactId }: Rendering) {
  const { client, key } = useApi();
  const { subject } = content;
  const request = {
    subject,
    ...contentRequest(content),
    type,
    ...(topicId && { topicId }),
    ...(contactId && { contactId }),
  };
  return useQuery({
    queryKey: key('render', request),
    queryFn: () => unwrap(client.POST('/render', { body: request as never })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });
}
