import joi from 'joi';
import { badRequest, validationError } from '../../platform/errors.ts';
import type { ImportOptions } from '../../services/jobs/create.ts';
import type { UploadedFile } from './route.ts';
import { optional, text } from './schemas.ts';
import type { Typed } from './typed.ts';

// The fields of a multipart form are strings.

const MAX_MAPPING = 64 * 1024;
const MAX_FIELD = 255;

const formFlag = (): Typed<string | undefined> => optional(joi.string().valid('true', 'false', '1', '0', ''));

/** The form of all imports: the fields, and the file. */
export const importForm = {
  name: 'ImportRequest',
  description: 'A CSV file to import.',
  files: { file: 'CSV file in UTF-8 with a header row and a column "email".' },
};

export const importFields = () => ({
  mapping: optional(text({ min: 0, max: MAX_MAPPING }))
    .description('JSON object that maps column headers to field names; null skips a column. Others keep their name.')
    .example('{"E-mail":"email","Notes":null}'),
  dryRun: formFlag().description('With `true` or `1`, nothing is written; the result shows what would change.'),
  subscribed: formFlag().description(
    'Subscription state of new contacts without a value in the column `subscribed`; true by default. No effect on suppressions.',
  ),
});

type Fields = Partial<Record<'mapping' | 'dryRun' | 'subscribed', string | undefined>>;

export function importOptions({ mapping, dryRun, subscribed }: Fields): ImportOptions {
  return {
    ...(mapping && { mapping: mappingOf(mapping) }),
    ...(isTrue(dryRun) && { dryRun: true }),
    ...(subscribed && { subscribed: isTrue(subscribed) }),
  };
}

const isTrue = (flag: string | undefined): boolean => flag === 'true' || flag === '1';

const mappingSchema = joi.object().pattern(joi.string(), joi.string().min(1).max(MAX_FIELD).allow(null)).required();

function mappingOf(given: string): Record<string, string | null> {
  const { value, error } = mappingSchema.validate(parsed(given));
  if (!error) return value;
  const message = '"mapping" must be a JSON object that maps column headers to field names or null';
  throw validationError([{ field: 'mapping', message, code: 'custom' }]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns where the uploaded file is. */
export function fileOf({ file }: Record<string, UploadedFile | undefined>): { path: string } {
  if (!file) throw badRequest('Send the CSV file in the multipart field "file".');
  return { path: file.path };
}
