import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { SealError } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { basicAuthorization } from '../../platform/http/outbound-http.ts';
import { openEndpointHeaders, sealEndpointHeaders } from './sealed-secrets.ts';

const CHUNK = 100;
const MASK = '•••';

const credentialsOf = (url: string): string | undefined =>
  URL.canParse(url) ? basicAuthorization(new URL(url)) : undefined;

/** Returns whether a URL has a user name or a password. New ones are refused: URLs are shown and logged. */
export const hasCredentials = (url: string): boolean => credentialsOf(url) !== undefined;

function withoutCredentials(text: string): string {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href;
}

/** Returns a URL as it may be shown. */
export const shownUrl = (url: string): string =>
  hasCredentials(url) ? withoutCredentials(url).replace('//', `//${MASK}@`) : url;

interface Row {
  id: string;
  url: string;
  sealedHeaders: string | null;
}

const page = statement<Row>(
  'endpoint-credentials-page',
  `select id, url, sealed_headers from webhook_endpoints where url like '%@%' and id > $1 order by id limit $2`,
);
const write = statement(
  'endpoint-credentials-write',
  `update webhook_endpoints set url = $3, sealed_headers = $4, header_names = $5
   where id = $1 and url = $2 and sealed_headers is not distinct from $6`,
);

/**
 * Housekeeping: moves credentials of URLs that an earlier version accepted into the sealed headers, as the Authorization
 * header that they caused. Leaves endpoints alone whose headers no key opens.
 */
export async function sealUrlCredentials(db: Db, keys: SigningKeys): Promise<number> {
  let sealed = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await page(db, [after, CHUNK]);
    for (const row of rows) sealed += await sealOne(db, keys, row);
    const last = rows.at(-1);
    if (rows.length < CHUNK || !last) return sealed;
    after = last.id;
  }
}

async function sealOne(db: Db, keys: SigningKeys, { id, url, sealedHeaders }: Row): Promise<number> {
  const authorization = credentialsOf(url);
  if (authorization === undefined) return 0;
  try {
    const headers = openEndpointHeaders(keys, id, sealedHeaders);
    const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    const all = isGiven ? headers : { ...headers, Authorization: authorization };
    // Writes only if the row is unchanged: an edit may have replaced it meanwhile.
    const values = [withoutCredentials(url), sealEndpointHeaders(keys, id, all), Object.keys(all), sealedHeaders];
    return await write.count(db, [id, url, ...values]);
  } catch (error) {
    if (error instanceof SealError) return 0;
    throw error;
  }
}
