import { ApiError, validationError } from '../../platform/errors.ts';
import { mergedTooLarge } from './data.ts';

interface DatabaseError {
  code?: string;
  constraint?: string;
}

/** Translates a constraint violation of a contact into an API error. Returns any other error unchanged. */
export function contactViolation(error: unknown): unknown {
  const { code, constraint } = error as DatabaseError;
  if (code === '23505' && constraint === 'contacts_project_id_email_key')
    return new ApiError(409, 'CONFLICT', 'Another contact in this project has this email address.');
  if (isDataTooLarge(error)) return validationError([mergedTooLarge]);
  return error;
}

export function isDataTooLarge(error: unknown): boolean {
  const { code, constraint } = error as DatabaseError;
  return code === '23514' && constraint === 'contacts_data_size';
}

export async function translatingContactErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw contactViolation(error);
  }
}
