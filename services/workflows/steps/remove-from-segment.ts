import { changeSegment } from './change-segment.ts';

export const removeFromSegmentStep = changeSegment({
  type: 'REMOVE_FROM_SEGMENT',
  label: 'Remove from segment',
  description: 'Takes the contact out of a static segment.',
  member: false,
});
