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
