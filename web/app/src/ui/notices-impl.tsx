import '@mantine/notifications/styles.css';
import { Notifications, notifications } from '@mantine/notifications';
import { useEffect } from 'react';
import { showWith } from './notify.ts';

export function NoticeList() {
  useEffect(() => showWith((notice) => notifications.show(notice)), []);
  return <Notifications position="bottom-right" />;
}
