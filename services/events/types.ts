/** Events that the service records, without those of segments. */
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

/** The types of events in the activity feed, as the database function `activity_type` returns them. */
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
  'topic.subscribed',
  'topic.unsubscribed',
  'form.confirmed',
] as const;
export type ShownType = (typeof shownTypes)[number];

/** With `hidden` for events that the feed does not show: repeated opens and clicks of a mail, entries into segments. */
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

/** Returns the type that the feed shows events of that name as. */
export const shownTypeOf = (name: string): ShownType =>
  /^topic\.[a-z0-9-]+\.(?:subscribed|unsubscribed)$/.test(name)
    ? name.endsWith('.subscribed')
      ? 'topic.subscribed'
      : 'topic.unsubscribed'
    : /^form\.[a-z0-9-]+\.confirmed$/.test(name)
      ? 'form.confirmed'
      : shownTypeOfOther(name);

const shownTypeOfOther = (name: string): ShownType =>
  // A client may name an event `constructor`.
  Object.hasOwn(typeOfSystemEvent, name)
    ? typeOfSystemEvent[name as keyof typeof typeOfSystemEvent]
    : 'event.triggered';
