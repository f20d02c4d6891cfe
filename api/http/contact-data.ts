import joi from 'joi';
import { type Data, limitBrokenBy } from '../../services/contacts/data.ts';
import type { Typed } from './typed.ts';
import { refuse } from './violations.ts';

/** Custom fields as every door takes them. */
export const contactData = (): Typed<Data> =>
  joi
    .object()
    .unknown()
    .custom((data: Data, helpers) => {
      const broken = limitBrokenBy(data);
      return broken ? refuse(helpers, 'too_big', broken) : data;
    })
    .required();
