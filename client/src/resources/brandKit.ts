import type { BrandKit, QueuedJob, SaveBrandKitRequest } from '../api-types.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions } from '../types.ts';

/** Colors, fonts and addresses that documents are rendered with. */
export const brandKit = (client: RawClient) => ({
  get: (options?: CallOptions): Promise<BrandKit> => client.get('/brand-kit', { ...options }),

  /** Replaces the brand kit; what is left out has its default. */
  save: (kit: SaveBrandKitRequest, options?: CallOptions): Promise<BrandKit> =>
    client.put('/brand-kit', { ...options, body: kit }),

  /** Renders templates and draft campaigns again with the brand kit. */
  apply: (options?: CallOptions): Promise<QueuedJob> => client.post('/brand-kit/apply', { ...options }),
});
