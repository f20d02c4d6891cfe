import { type SavedBlockView, savedBlockKinds } from '../../services/mail-documents/saved-blocks.ts';
import { givenDocument } from '../http/mail-document-schema.ts';
import { dateTime, list, namedType, object, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

const listedShape = {
  id: uuid().description('Block ID.'),
  name: text().description('Name of the block.'),
  kind: oneOf(...savedBlockKinds).description('HEADER, FOOTER or SECTION.'),
  usedBy: object({
    templates: count().description('Number of templates that use the block, themselves or in their draft.'),
    campaigns: count().description('Number of campaigns that use the block and are DRAFT or SCHEDULED.'),
  }).description('How often the block is used.'),
  updatedAt: dateTime().description('When the block last changed.'),
};

export const listedSavedBlockSchema = namedType(
  'SavedBlockSummary',
  'A saved block, without its document.',
  listedShape,
);

export const savedBlockSchema = namedType('SavedBlock', 'Blocks that several documents use.', {
  ...listedShape,
  document: givenDocument().description('The blocks; preheader and theme are ignored.'),
});

export const savedBlockUsageSchema = namedType('SavedBlockUsage', 'What uses a saved block.', {
  templates: list(
    object({ id: uuid().description('Template ID.'), name: text().description('Template name.') }),
  ).description('Templates that use the block, themselves or in their draft: the first 100 by name.'),
  campaigns: list(
    object({
      id: uuid().description('Campaign ID.'),
      name: text().description('Campaign name.'),
      status: text().description('Campaign status.').example('DRAFT'),
    }),
  ).description('Campaigns that use the block and are DRAFT or SCHEDULED: the first 100 by name.'),
});

export const presentListedSavedBlock = ({ block, usedBy }: SavedBlockView) => ({
  id: block.id,
  name: block.name,
  kind: block.kind,
  usedBy,
  updatedAt: block.updatedAt.toISOString(),
});

export const presentSavedBlock = (view: SavedBlockView) => ({
  ...presentListedSavedBlock(view),
  document: view.block.document,
});
