import { t } from '../../texts/index.ts';

/** The name of an action, or its code if a newer API records one that has no name here. */
export const actionName = (action: string): string =>
  Object.hasOwn(t.audit.actions, action) ? t.audit.actions[action as keyof typeof t.audit.actions] : action;

/** The code, which the API takes as a filter, is the tooltip. */
export const ActionName = ({ action }: { action: string }) => <span title={action}>{actionName(action)}</span>;
