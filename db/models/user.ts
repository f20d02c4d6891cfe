import { BaseModel } from './base.ts';

export class User extends BaseModel {
  static override tableName = 'users';

  declare id: string;
  declare email: string;
  declare passwordHash: string | null;
  declare emailVerified: boolean;
  declare updatedAt: Date;
  declare operator: boolean;
  /** Of the application, as the user has chosen; null follows the browser. */
  declare language: string | null;
  /** Sealed. */
  declare totpSecret: string | null;
  declare totpEnabledAt: Date | null;
  /** The newest time step whose code was accepted. */
  declare totpLastStep: number | null;
}

/** The login of a user at an OAuth provider. */
export class UserIdentity extends BaseModel {
  static override tableName = 'user_identities';
  static override idColumn = ['provider', 'subject'];

  declare provider: string;
  declare subject: string;
  declare userId: string;
}

/** A mailed link, found by the hash of its token. */
export class UserToken extends BaseModel {
  static override tableName = 'user_tokens';
  static override idColumn = 'tokenHash';

  declare tokenHash: Buffer;
  declare userId: string;
  declare purpose: string;
  /** Of an invitation. */
  declare projectId: string | null;
  declare expiresAt: Date;
}

export class UserRecoveryCode extends BaseModel {
  static override tableName = 'user_recovery_codes';
  static override idColumn = ['userId', 'codeHash'];

  declare userId: string;
  declare codeHash: Buffer;
}

/** Mail that was requested for an address, whether it has an account or not. */
export class AccountRequest extends BaseModel {
  static override tableName = 'account_requests';

  declare id: string;
  declare email: string;
  declare purpose: 'VERIFY_EMAIL' | 'RESET_PASSWORD';
}
