import { BaseModel } from './base.ts';

export type SegmentType = 'DYNAMIC' | 'STATIC';

export class Segment extends BaseModel {
  static override tableName = 'segments';
  static override jsonAttributes = ['condition', 'refersTo'];

  declare id: string;
  declare projectId: string;
  /** Fixed at creation, because the names of the segment's events contain it. */
  declare slug: string;
  declare name: string;
  declare description: string | null;
  declare type: SegmentType;
  /** As the client sent it; null on a static segment. */
  declare condition: Record<string, unknown> | null;
  declare trackMembership: boolean;
  declare memberCount: number;
  /** Null: never. */
  declare countedAt: Date | null;
  /** Its members change as time passes. */
  declare timeDependent: boolean;
  /** Until when such changes have been applied. */
  declare sweptAt: Date;
  /** When all contacts must be evaluated again. */
  declare reconcileAt: Date | null;
  /** What its condition uses: see `services/segments/uses.ts`. */
  declare filterCount: number;
  declare refersTo: Record<string, number>;
  declare ownDependencies: string[];
  declare ownTimeDependent: boolean;
  declare updatedAt: Date;
}
