/** What members are notified about. */
export const notificationTypes = [
  'campaign.finished',
  'campaign.paused',
  'domain.lost',
  'endpoint.disabled',
  'form.attacked',
  'import.finished',
  'project.near_limit',
] as const;
export type NotificationType = (typeof notificationTypes)[number];

export interface Channels {
  /** Shown in the application. */
  app: boolean;
  email: boolean;
}

/** Until the user chooses otherwise: what needs a person is mailed. The database function notify_members has the same. */
export const defaultChannels = (type: NotificationType): Channels => ({
  app: true,
  email: type !== 'campaign.finished' && type !== 'import.finished',
});
