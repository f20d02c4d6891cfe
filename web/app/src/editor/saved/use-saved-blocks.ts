import { useQuery } from '@tanstack/react-query';
import type { SavedBlockSummary } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';

const none: SavedBlockSummary[] = [];

/** The saved blocks of the project by name; undefined while they load. */
export function useSavedBlocks({ enabled = true } = {}): SavedBlockSummary[] | undefined {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('saved-blocks'),
    queryFn: () => unwrap(client.GET('/saved-blocks')),
    enabled,
    staleTime: 30_000,
  });
  return enabled ? data : none;
}
