export const queues = ['control', 'events', 'starts'] as const;
/** Queues are worked on side by side, so that a flood in one does not delay another. */
export type OutboxQueue = (typeof queues)[number];
