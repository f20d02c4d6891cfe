const YEAR_SECONDS = 365 * 86_400;

/**
 * Headers of every answer; routes that serve pages or images set a policy of their own. HSTS does not include subdomains:
 * those need not be ours.
 */
export function securityHeaders(baseUrl = ''): Record<string, string> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` }),
  };
}
