/** Names that only the service may record. */
export const isReservedEvent = (name: string): boolean =>
  name.startsWith('email.') ||
  name === 'contact.subscribed' ||
  name === 'contact.unsubscribed' ||
  /^segment\..+\.(entry|exit)$/s.test(name);

/** The same rule as a pattern, for the OpenAPI document. */
export const UNRESERVED_EVENT_PATTERN =
  '^(?!email\\.|contact\\.(?:subscribed|unsubscribed)$|segment\\.[\\s\\S]+\\.(?:entry|exit)$)';
