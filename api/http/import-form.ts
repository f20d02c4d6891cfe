import joi from 'joi';
import { badRequest, validationError } from '../../platform/errors.ts';
import type { ConsentEvidence } from '../../services/access/consent-context.ts';
import type { ImportOptions } from '../../services/jobs/create.ts';
import { type CellType, cellTypes } from '../../services/jobs/csv.ts';
import { confirmationModes } from '../../services/topics/choices.ts';
import type { UploadedFile } from './route.ts';
import { optional, text, uuid } from './schemas.ts';
import { givenConsent } from './topic-schemas.ts';
import type { Typed } from './typed.ts';
import { bodyCheck } from './validate.ts';

// The fields of a multipart form are strings.

const MAX_MAPPING = 64 * 1024;
const MAX_FIELD = 255;

const formFlag = (): Typed<string | undefined> => optional(joi.string().valid('true', 'false', '1', '0', ''));

/** The form of an import of contacts: the fields, and the file. */
export const importForm = {
  name: 'ImportRequest',
  description: 'A CSV file to import.',
  files: { file: 'CSV file in UTF-8 with a header row and a column "email".' },
};

export const suppressionImportForm = {
  ...importForm,
  name: 'SuppressionImportRequest',
  description: 'A CSV file of addresses to suppress.',
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

export const contactImportFields = () => ({
  ...importFields(),
  types: optional(text({ min: 0, max: MAX_MAPPING }))
    .description(
      'JSON object that maps column headers to `string`, `number`, `boolean` or `date`. Rows with other values are rejected; values of other columns are converted by their look.',
    )
    .example('{"Zip":"string"}'),
  consent: optional(text({ min: 0, max: MAX_MAPPING }))
    .description(
      'JSON object with `at`, `ip`, `source`, `text` and `note`: proof of consent for all rows. Columns `consentAt`, `consentIp`, `consentSource` and `consentText` win.',
    )
    .example('{"at":"2026-01-31T09:00:00Z","source":"Trade fair"}'),
  confirmation: optional(joi.string().valid(...confirmationModes, '') as Typed<string>).description(
    'SKIP: subscriptions of the file are confirmed already; every row needs consent with a time and a source. Only for files with consent or columns of topics.',
  ),
  segmentId: optional(uuid().allow('')).description('ID of a static segment to add all contacts of the file to.'),
});

type Fields = Partial<
  Record<'mapping' | 'dryRun' | 'subscribed' | 'segmentId' | 'types' | 'consent' | 'confirmation', string | undefined>
>;

export function importOptions(fields: Fields): ImportOptions {
  const { mapping, dryRun, subscribed, segmentId, types, consent, confirmation } = fields;
  return {
    ...(mapping && { mapping: mappingOf(mapping) }),
    ...(isTrue(dryRun) && { dryRun: true }),
    ...(subscribed && { subscribed: isTrue(subscribed) }),
    ...(segmentId && { segmentId }),
    ...(types && { types: typesOf(types) }),
    ...(consent && { consent: consentOf(consent) }),
    ...(confirmation && { confirmation: confirmation === 'SKIP' ? 'SKIP' : 'SEND' }),
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

const checkConsent = bodyCheck({ consent: givenConsent() });

function consentOf(given: string): ConsentEvidence {
  const { consent } = checkConsent({ value: { consent: parsed(given) }, mayContainBadText: true, files: {} }) as {
    consent: ConsentEvidence;
  };
  return consent;
}

const typesSchema = joi
  .object()
  .pattern(joi.string(), joi.string().valid(...cellTypes))
  .required();

function typesOf(given: string): Record<string, CellType> {
  const { value, error } = typesSchema.validate(parsed(given));
  if (!error) return value;
  const message = `"types" must be a JSON object that maps column headers to ${cellTypes.join(', ')}`;
  throw validationError([{ field: 'types', message, code: 'custom' }]);
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
