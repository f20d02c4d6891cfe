import type { SigningKeys } from '../../platform/crypto/signed-token.ts';

/** SECRET_KEY of tests that run services without an API or a worker. */
export const testKeys: SigningKeys = ['a secret of this test, and long enough'];
