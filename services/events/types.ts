/** Events that the service records itself, beside those of segments. */
export const systemEvents = [
  'email.sent',
  'email.delivery',
  'email.open',
  'email.click',
  'email.bounce',
  'email.complaint',
  'email.failed',
  'contact.subscribed',
  'contact.unsubscribed',
] as const;

/** What an event can be in the feed of activity, as the database's `activity_type` has it. */
export const shownTypes = [
  'event.triggered',
  'email.sent',
  'email.delivered',
  'email.opened',
  'email.clicked',
  'email.bounced',
  'email.complained',
  'email.failed',
  'contact.subscribed',
  'contact.unsubscribed',
] as const;
export type ShownType = (typeof shownTypes)[number];

/** The same with those that the feed does not show: later opens and clicks of a mail, entries into segments. */
export const eventTypes = [...shownTypes, 'hidden'] as const;

const typeOfSystemEvent: Record<(typeof systemEvents)[number], ShownType> = {
  'email.sent': 'email.sent',
  'email.delivery': 'email.delivered',
  'email.open': 'email.opened',
  'email.click': 'email.clicked',
  'email.bounce': 'email.bounced',
  'email.complaint': 'email.complained',
  'email.failed': 'email.failed',
  'contact.subscribed': 'contact.subscribed',
  'contact.unsubscribed': 'contact.unsubscribed',
};

/** As what events of that name are shown, those that are. */
export const shownTypeOf = (name: string): ShownType =>
  // Callers may call an event `constructor`.
  Object.hasOwn(typeOfSystemEvent, name)
    ? typeOfSystemEvent[name as keyof typeof typeOfSystemEvent]
    : 'event.triggered';
