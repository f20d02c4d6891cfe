import type { Db } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import type { AccountLanguage } from '../../platform/languages.ts';

/** Null: the application follows the browser. */
export async function changeLanguage(db: Db, userId: string, language: AccountLanguage | null): Promise<User> {
  return User.query(db).patchAndFetchById(userId, { language, updatedAt: new Date() });
}
