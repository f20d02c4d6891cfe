import joi from 'joi';
import { readMailbox } from '../../platform/address.ts';
import type { Address } from '../../services/emails/send.ts';
import { arrayOr, email, line, list, namedType, nullable, objectOr, optional, textOr } from './schemas.ts';
import type { Typed } from './typed.ts';
import { documented } from './violations.ts';

const MAX_RECIPIENTS = 1000;

const displayName = () => optional(nullable(line({ min: 0, max: 255 })));

const named = () =>
  namedType('EmailAddress', 'An email address with a display name.', {
    email: email().description('Email address.'),
    name: displayName().description('Display name.'),
  });

export type GivenAddress = string | { email: string; name?: string | null | undefined };

/** One address, or a list of them, each with or without a name. */
export const recipients = (): Typed<GivenAddress | GivenAddress[]> => {
  const other = objectOr(named(), email());
  const one = textOr(email(), other);
  return textOr(email(), arrayOr(list(one, { min: 1, max: MAX_RECIPIENTS }), other));
};

/** An address, `Name <address>`, or both in an object. */
export const senderAddress = (): Typed<GivenAddress> => textOr(mailbox(), objectOr(named(), mailbox()));

const mailbox = (): Typed<GivenAddress> =>
  documented(
    joi
      .string()
      .min(0)
      .custom((text: string, helpers) => parseMailbox(text) ?? helpers.error('string.email'))
      .required(),
    {
      anyOf: [
        { type: 'string', format: 'email', maxLength: 254 },
        { type: 'string', pattern: '^[^<>]*<[^<>@\\s]+@[^<>@\\s]+>\\s*$', examples: ['Shop <shop@example.com>'] },
      ],
    },
  );

/** Keeps the string where it has no name: the deprecated `name` of /v1/send applies only then. */
function parseMailbox(text: string): GivenAddress | undefined {
  const mailbox = readMailbox(text);
  return mailbox?.name === undefined ? mailbox?.email : mailbox;
}

export function asAddress(given: GivenAddress): Address {
  if (typeof given === 'string') return { email: given };
  return given.name ? { email: given.email, name: given.name } : { email: given.email };
}
