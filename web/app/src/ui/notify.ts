import { notifications } from '@mantine/notifications';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';

export const showDone = (message: string): void => {
  notifications.show({ message, color: 'teal', closeButtonProps: { 'aria-label': t.common.close } });
};

export const showProblem = (error: unknown): void => {
  notifications.show({
    title: t.errors.title,
    message: messageOf(error),
    color: 'red',
    autoClose: 10_000,
    closeButtonProps: { 'aria-label': t.common.close },
  });
};
