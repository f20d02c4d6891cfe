import { useQuery } from '@tanstack/react-query';
import type { Topic } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';

/** The topics in use by position, or those that are archived. */
export function useTopics(archived = false) {
  const { client, key } = useApi();
  return useQuery<Topic[]>({
    queryKey: key('topics', { archived }),
    queryFn: () => unwrap(client.GET('/topics', { params: { query: { archived } } })),
  });
}
