/** Classes of SQLSTATE in which the server, and not the statement, is the trouble: connection, resources, operator. */
const AWAY_CLASSES = new Set(['08', '53', '57']);
const QUERY_CANCELED = '57014';
const SOCKET = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH']);

/** Whether the database could not be reached or is going away, so that the same request may work in a moment. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') {
    const state = /^[0-9A-Z]{5}$/.test(code);
    return SOCKET.has(code) || (state && AWAY_CLASSES.has(code.slice(0, 2)) && code !== QUERY_CANCELED);
  }
  // A pool without a free connection, and pg's own words for a broken one, carry no code.
  return error.name === 'KnexTimeoutError' || error.message.startsWith('Connection terminated');
}
