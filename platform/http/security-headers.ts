const YEAR_SECONDS = 365 * 86_400;

/**
 * Headers of every response. Routes that serve pages or images set their own policy. HSTS excludes subdomains, which may
 * belong to someone else.
 */
export function securityHeaders(baseUrl = ''): Record<string, string> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` }),
  };
}
