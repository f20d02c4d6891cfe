import { BaseModel } from './base.ts';

export class Session extends BaseModel {
  static override tableName = 'sessions';
  static override idColumn = 'tokenHash';

  declare tokenHash: Buffer;
  declare userId: string;
  declare expiresAt: Date;
  declare id: string;
  declare lastSeenAt: Date;
  declare ip: string | null;
  declare userAgent: string | null;
  declare provenAt: Date;
}
