import joi from 'joi';
import { type Data, exceededLimit, MAX_KEY_LENGTH } from '../../services/contacts/data.ts';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

/** Custom fields, with the limits of every route that takes them. */
export const contactData = (): Typed<Data> =>
  documented(
    joi
      .object()
      .unknown()
      .custom((data: Data, helpers) => {
        const violation = exceededLimit(data);
        return violation ? refuse(helpers, 'too_big', violation) : data;
      })
      .required(),
    { propertyNames: { maxLength: MAX_KEY_LENGTH } },
  );
