/** Names that only the service may record. */
export const isReservedEvent = (name: string): boolean =>
  name.startsWith('email.') ||
  name === 'contact.subscribed' ||
  name === 'contact.unsubscribed' ||
  /^segment\..+\.(entry|exit)$/s.test(name);
