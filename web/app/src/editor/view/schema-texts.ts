import { t } from '../../texts/index.ts';
import type { SchemaTexts } from '../schema/extensions.ts';
import { testText } from './sentence.ts';

export const schemaTexts = (): SchemaTexts => ({
  condition: (test) => t.editor.onlyIf(testText(test)),
  otherwise: t.editor.otherwise,
  repeat: (list, item) => t.editor.forEach(list, item),
  footer: t.editor.blocks.footer,
  noImage: t.editor.noImage,
  noAlt: t.editor.noAlt,
  html: (characters) => t.editor.htmlSize(characters),
  saved: () => t.editor.blocks.saved,
  networks: t.editor.networks,
  noNetworks: t.editor.noNetworks,
  brandNetworks: t.editor.brandNetworks,
});
