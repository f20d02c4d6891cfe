import type {
  CreateSavedBlockRequest,
  QueuedJob,
  SavedBlock,
  SavedBlockSummary,
  SavedBlockUsage,
  UpdateSavedBlockRequest,
} from '../api-types.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions } from '../types.ts';

/** Blocks that several documents use. */
export const savedBlocks = (client: RawClient) => ({
  create: (block: CreateSavedBlockRequest, options?: CallOptions): Promise<SavedBlock> =>
    client.post('/saved-blocks', { ...options, body: block }),

  list: (options?: CallOptions): Promise<SavedBlockSummary[]> => client.get('/saved-blocks', { ...options }),

  get: (id: string, options?: CallOptions): Promise<SavedBlock> =>
    client.get('/saved-blocks/{id}', { ...options, path: { id } }),

  update: (id: string, changes: UpdateSavedBlockRequest, options?: CallOptions): Promise<SavedBlock> =>
    client.patch('/saved-blocks/{id}', { ...options, path: { id }, body: changes }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/saved-blocks/{id}', { ...options, path: { id } }),

  /** Lists the templates and campaigns that use the block. */
  usage: (id: string, options?: CallOptions): Promise<SavedBlockUsage> =>
    client.get('/saved-blocks/{id}/usage', { ...options, path: { id } }),

  /** Renders the templates and draft campaigns that use the block again. */
  apply: (id: string, options?: CallOptions): Promise<QueuedJob> =>
    client.post('/saved-blocks/{id}/apply', { ...options, path: { id } }),
});
