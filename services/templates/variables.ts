import type { Variables } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';

export interface VariableSources {
  contact: { id: string; email: string; subscribed: boolean; createdAt: Date; data: Data };
  /** Values for this mail only; they take precedence over the contact's data. */
  passing?: Data;
  /** The contact's pages; omitted when the template uses none. */
  links?: { unsubscribeUrl: string; unsubscribeAllUrl?: string; subscribeUrl: string; manageUrl: string };
  /** The name of the email's topic, in the contact's language. */
  topicName?: string | undefined;
  /** The project's language, the default locale. */
  language: string;
  /** The event of a workflow mail, as `event.*`. Its values are also available by name unless the contact has them. */
  event?: unknown;
}

/** Returns the variables of a template. */
export function variablesOf({ contact, passing, links, topicName, language, event }: VariableSources): Variables {
  const { id, email, subscribed, createdAt } = contact;
  const data = { ...objectOrEmpty(event), ...contact.data, ...passing };
  const builtIn = {
    id,
    email,
    subscribed,
    createdAt: createdAt.toISOString(),
    locale: data.locale ?? language,
    ...links,
    ...(topicName !== undefined && { topicName }),
    everpost_id: id,
    everpost_email: email,
    ...(event !== undefined && { event }),
  };
  return { data, builtIn };
}

const objectOrEmpty = (event: unknown): Data =>
  typeof event === 'object' && event !== null && !Array.isArray(event) ? (event as Data) : {};

/**
 * Returns the variables of a confirmation email: none that a visitor has typed, not even the address, so that no one can
 * have others sent their own text.
 */
export function confirmationVariables(passing: Data | null, links: Record<string, string>): Variables {
  const { locale, formName, topicNames } = passing ?? {};
  return { data: {}, builtIn: { locale, formName, topicNames, ...links } };
}
