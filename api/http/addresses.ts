import joi from 'joi';
import type { Address } from '../../services/emails/send.ts';
import { arrayOr, email, line, list, nullable, object, objectOr, optional } from './schemas.ts';
import type { Typed } from './typed.ts';

const MAX_RECIPIENTS = 1000;

const displayName = () => optional(nullable(line({ min: 0, max: 255 })));

const named = () => object({ email: email(), name: displayName() });

type Given = string | { email: string; name?: string | null | undefined };

/** One address, or a list of them, each with or without a name. */
export const recipients = (): Typed<Given | Given[]> => {
  const one = objectOr(named(), email());
  return arrayOr(list(one, { min: 1, max: MAX_RECIPIENTS }), one);
};

/** An address, `Name <address>`, or both in an object. */
export const sender = (): Typed<Given> =>
  objectOr(
    named(),
    joi
      .string()
      .min(0)
      .custom((text: string, helpers) => parseMailbox(text) ?? helpers.error('string.email'))
      .required() as Typed<Given>,
  );

const ADDRESS = email();
const NAME = line({ max: 255 });

function parseMailbox(text: string): Address | undefined {
  const [, name = '', address = text] = /^([^<>]*)<([^<>]*)>\s*$/.exec(text) ?? [];
  const { value, error } = ADDRESS.validate(address);
  if (error) return undefined;
  const bare = name.trim().replace(/^"(.*)"$/, '$1');
  if (bare === '') return { email: value };
  return NAME.validate(bare).error ? undefined : { email: value, name: bare };
}

export function asAddress(given: Given): Address {
  if (typeof given === 'string') return { email: given };
  return given.name ? { email: given.email, name: given.name } : { email: given.email };
}
