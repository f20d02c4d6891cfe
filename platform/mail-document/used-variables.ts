import { usedVariables } from '../templates/index.ts';
import { joinPath } from './parse-state.ts';
import type { Inline, MailDocument, Mark, SavedBlocks, VariableNode } from './types.ts';
import { type BlockNode, hasInlines, type PlacedBlock, visitEmail } from './visit.ts';

/** The variables that every email has. The chip `address` is the brand kit's address. */
const BUILT_IN = new Set([
  'id',
  'email',
  'subscribed',
  'createdAt',
  'locale',
  'unsubscribeUrl',
  'unsubscribeAllUrl',
  'subscribeUrl',
  'manageUrl',
  'everpost_id',
  'everpost_email',
  'topicName',
  'data',
  'event',
  'address',
]);

export interface DocumentVariable {
  name: string;
  /** The custom field that the variable begins with. */
  field: string;
  /** Its value is written. If not, the template code of an html block only tests it or loops over it. */
  isWritten: boolean;
  hasFallback: boolean;
  isBuiltIn: boolean;
  path: string;
}

/**
 * Returns the variables that a document writes, in their order: chips, and those of addresses and html blocks. Leaves out
 * the items of loops.
 */
export function documentVariables(document: MailDocument, savedBlocks: SavedBlocks = new Map()): DocumentVariable[] {
  const preheader = inlineVariables(document.preheader, (...keys) => joinPath('preheader', ...keys));
  const variables = [preheader];
  visitEmail(document, savedBlocks, (block) => {
    const items = itemsOf(block.parents);
    variables.push(blockVariables(block).filter(({ name }) => !items.has(name.split('.', 1)[0] ?? '')));
  });
  return variables.flat();
}

const itemsOf = (parents: readonly BlockNode[]): ReadonlySet<string> =>
  new Set(parents.flatMap((node) => (node.type === 'repeat' ? [node.attrs.item, 'loop'] : [])));

function blockVariables({ node, at }: PlacedBlock): DocumentVariable[] {
  const inText = hasInlines(node) ? inlineVariables(node.content, (...keys) => at('content', ...keys)) : [];
  switch (node.type) {
    case 'button':
      return [...templateVariables(node.attrs.href, at('attrs.href')), ...inText];
    case 'image':
      return [
        ...templateVariables(node.attrs.src, at('attrs.src')),
        ...templateVariables(node.attrs.href ?? '', at('attrs.href')),
      ];
    case 'social':
      return (node.attrs.links ?? []).flatMap(({ href }, index) =>
        templateVariables(href, at('attrs.links', index, 'href')),
      );
    case 'html':
      return templateVariables(node.attrs.html, at('attrs.html'));
    default:
      return inText;
  }
}

function inlineVariables(nodes: readonly Inline[], at: PlacedBlock['at']): DocumentVariable[] {
  return nodes.flatMap((node, index) => [
    ...(node.type === 'variable' ? [chip(node, at(index))] : []),
    ...(node.marks ?? []).flatMap((mark, position) => linkVariables(mark, at(index, 'marks', position, 'attrs.href'))),
  ]);
}

const linkVariables = (mark: Mark, path: string): DocumentVariable[] =>
  mark.type === 'link' ? templateVariables(mark.attrs.href, path) : [];

const chip = ({ attrs: { name, fallback } }: VariableNode, path: string): DocumentVariable =>
  variable(name, { path, isWritten: true, hasFallback: fallback !== null });

/** Returns the variables of an address or of HTML, each once. */
function templateVariables(source: string, path: string): DocumentVariable[] {
  if (!source.includes('{')) return [];
  const byName = new Map<string, DocumentVariable>();
  for (const { path: keys, isWritten, hasFallback } of usedVariables(source)) {
    const name = keys.join('.');
    const before = byName.get(name);
    byName.set(
      name,
      variable(name, {
        path,
        isWritten: isWritten || before?.isWritten === true,
        hasFallback: (hasFallback || !isWritten) && (before?.hasFallback ?? true),
      }),
    );
  }
  return [...byName.values()];
}

interface Use {
  path: string;
  isWritten: boolean;
  hasFallback: boolean;
}

function variable(name: string, { path, isWritten, hasFallback }: Use): DocumentVariable {
  const [first = '', second = ''] = name.split('.');
  // `data.plan` is the custom field `plan`.
  const field = first === 'data' && second !== '' ? second : first;
  return { name, field, isWritten, hasFallback, isBuiltIn: field === first && BUILT_IN.has(first), path };
}
