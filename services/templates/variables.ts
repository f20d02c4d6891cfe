import type { Variables } from '../../platform/renderer/index.ts';
import type { Data } from '../contacts/data.ts';

export interface VariableSources {
  contact: { id: string; email: string; subscribed: boolean; createdAt: Date; data: Data };
  /** Values that were sent along for this mail alone; they win over the contact's. */
  passing?: Data;
  /** The pages of the contact; without them where the template names none. */
  links?: { unsubscribeUrl: string; subscribeUrl: string; manageUrl: string };
  /** The project's. */
  language: string;
  /** What `event.*` stands for in workflow mail. Its values go by their own names, too, where the contact has none. */
  event?: unknown;
}

/** What a template sees. */
export function variablesOf({ contact, passing, links, language, event }: VariableSources): Variables {
  const { id, email, subscribed, createdAt } = contact;
  const data = { ...valuesOf(event), ...contact.data, ...passing };
  const builtIn = {
    id,
    email,
    subscribed,
    createdAt: createdAt.toISOString(),
    locale: data.locale ?? language,
    ...links,
    everpost_id: id,
    everpost_email: email,
    ...(event !== undefined && { event }),
  };
  return { data, builtIn };
}

const valuesOf = (event: unknown): Data =>
  typeof event === 'object' && event !== null && !Array.isArray(event) ? (event as Data) : {};
