import type { MailDocument, SavedBlockKind } from '../../platform/mail-document/index.ts';
import { BaseModel } from './base.ts';

/** Blocks that documents name, so that a change reaches all of them. */
export class StoredBlock extends BaseModel {
  static override tableName = 'saved_blocks';
  static override jsonAttributes = ['document'];

  declare id: string;
  declare projectId: string;
  declare name: string;
  declare kind: SavedBlockKind;
  declare document: MailDocument;
  declare updatedAt: Date;
}
