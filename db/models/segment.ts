import { BaseModel } from './base.ts';

export type SegmentType = 'DYNAMIC' | 'STATIC';

export class Segment extends BaseModel {
  static override tableName = 'segments';
  static override jsonAttributes = ['condition', 'refersTo'];

  declare id: string;
  declare projectId: string;
  /** Fixed at creation: the events of a tracked segment are named by it. */
  declare slug: string;
  declare name: string;
  declare description: string | null;
  declare type: SegmentType;
  /** As it was sent; null on a static segment. */
  declare condition: Record<string, unknown> | null;
  declare trackMembership: boolean;
  declare memberCount: number;
  /** Time alone changes who is in it. */
  declare timeDependent: boolean;
  /** Up to then, that has been settled. */
  declare sweptAt: Date;
  /** From then on all contacts must be looked at once more. */
  declare reconcileAt: Date | null;
  /** What its condition uses: see `services/segments/uses.ts`. */
  declare filterCount: number;
  declare refersTo: Record<string, number>;
  declare ownDependencies: string[];
  declare ownTimeDependent: boolean;
  declare updatedAt: Date;
}
