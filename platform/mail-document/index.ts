// The documents of the visual editor. A request's document goes through `parseDocument`, and when it has saved blocks,
// through `checkSavedBlocks`; what both accept, `renderDocument` renders to the template that is stored as the body.

export { defaultBrandKit } from './brand-kit.ts';
export { contrastOf, MIN_CONTRAST } from './contrast.ts';
export { hasOwnFooter } from './own-footer.ts';
export { type ParseDocumentOptions, type ParsedDocument, parseDocument } from './parse.ts';
export { brandKitSchema, parseBrandKit } from './parse-brand-kit.ts';
export { RENDERER_VERSION, renderDocument } from './render.ts';
export { checkSavedBlocks, savedBlockIds } from './saved-blocks.ts';
export type * from './types.ts';
export { type DocumentVariable, documentVariables } from './used-variables.ts';
export { documentWarnings, type WarningContext } from './warnings.ts';
