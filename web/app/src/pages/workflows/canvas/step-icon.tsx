import {
  IconArrowsSplit2,
  IconCalendarClock,
  IconClock,
  IconGitBranch,
  IconHourglass,
  IconLogout,
  IconMail,
  IconRoute,
  IconSquareRounded,
  IconUserEdit,
  IconUserMinus,
  IconUserPlus,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';

const icons: Record<string, TablerIcon> = {
  SEND_EMAIL: IconMail,
  DELAY: IconClock,
  WAIT_FOR_EVENT: IconHourglass,
  CONDITION: IconGitBranch,
  WEBHOOK: IconWebhook,
  UPDATE_CONTACT: IconUserEdit,
  EXIT: IconLogout,
  SPLIT: IconArrowsSplit2,
  TIME_WINDOW: IconCalendarClock,
  ADD_TO_SEGMENT: IconUserPlus,
  REMOVE_FROM_SEGMENT: IconUserMinus,
  START_WORKFLOW: IconRoute,
};

/** The sign of a type of step; a type that has none yet gets a plain one. */
export function StepIcon({ type, size = 14 }: { type: string; size?: number }) {
  const Icon = icons[type] ?? IconSquareRounded;
  return <Icon size={size} aria-hidden />;
}
