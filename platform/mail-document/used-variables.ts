import { joinPath } from './parse-state.ts';
import type { Inline, MailDocument } from './types.ts';
import { type BlockNode, hasInlines, visitBlocks } from './visit.ts';

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
  hasFallback: boolean;
  isBuiltIn: boolean;
  path: string;
}

/** Returns the chips of a document in their order, without those of the items of loops. */
export function documentVariables(document: MailDocument): DocumentVariable[] {
  const variables = chipsIn(document.preheader, 'preheader', new Set());
  visitBlocks(document.content, 'content', ({ node, path, parents }) => {
    if (hasInlines(node)) variables.push(...chipsIn(node.content, joinPath(path, 'content'), itemsOf(parents)));
  });
  return variables;
}

const itemsOf = (parents: readonly BlockNode[]): ReadonlySet<string> =>
  new Set(parents.flatMap((node) => (node.type === 'repeat' ? [node.attrs.item, 'loop'] : [])));

function chipsIn(nodes: readonly Inline[], path: string, items: ReadonlySet<string>): DocumentVariable[] {
  return nodes.flatMap((node, index) => {
    if (node.type !== 'variable') return [];
    const { name, fallback } = node.attrs;
    const [first = '', second = ''] = name.split('.');
    if (items.has(first)) return [];
    // `data.plan` is the custom field `plan`.
    const field = first === 'data' && second !== '' ? second : first;
    const isBuiltIn = field === first && BUILT_IN.has(first);
    return [{ name, field, hasFallback: fallback !== null, isBuiltIn, path: joinPath(path, index) }];
  });
}
