// The visual editor's document, as it is stored: every attribute is present, null means "from the brand kit".
// Types only, so that the browser can import them too.

export type Align = 'left' | 'center' | 'right';

export type VariableFormat = 'upper' | 'lower' | 'number' | 'date';

export type Mark =
  | { type: 'bold' | 'italic' | 'underline' | 'strike' }
  | { type: 'color'; attrs: { color: string } }
  | { type: 'link'; attrs: { href: string } };

export interface TextNode {
  type: 'text';
  text: string;
  marks?: Mark[];
}

/** A chip: the value of a variable, or its fallback. */
export interface VariableNode {
  type: 'variable';
  attrs: { name: string; fallback: string | null; format: VariableFormat | null };
  marks?: Mark[];
}

export interface HardBreakNode {
  type: 'hardBreak';
  marks?: Mark[];
}

export type Inline = TextNode | VariableNode | HardBreakNode;

export interface HeadingBlock {
  type: 'heading';
  attrs: { level: 1 | 2 | 3; align: Align };
  content: Inline[];
}

export interface ParagraphBlock {
  type: 'paragraph';
  attrs: { align: Align; size: 'small' | 'normal' | 'large' };
  content: Inline[];
}

export interface ListItem {
  type: 'listItem';
  content: ParagraphBlock[];
}

export interface ListBlock {
  type: 'bulletList' | 'orderedList';
  content: ListItem[];
}

export interface ImageBlock {
  type: 'image';
  attrs: {
    src: string;
    alt: string;
    decorative: boolean;
    width: number;
    href: string | null;
    align: Align;
    full: boolean;
  };
}

export interface ButtonBlock {
  type: 'button';
  attrs: { href: string; align: Align; background: string | null; color: string | null; fullOnPhone: boolean };
  content: Inline[];
}

export interface Column {
  type: 'column';
  attrs: { width: number };
  content: Block[];
}

export interface ColumnsBlock {
  type: 'columns';
  attrs: { valign: 'top' | 'middle' | 'bottom'; stack: boolean };
  content: Column[];
}

export interface SectionBlock {
  type: 'section';
  attrs: { background: string | null; padding: number };
  content: Block[];
}

export interface DividerBlock {
  type: 'divider';
  attrs: { color: string | null };
}

export interface SpacerBlock {
  type: 'spacer';
  attrs: { height: number };
}

export interface SocialLink {
  network: string;
  href: string;
}

export interface SocialBlock {
  type: 'social';
  attrs: { align: Align; links: SocialLink[] | null };
}

export interface DocumentFilter {
  field: string;
  operator: string;
  value?: unknown;
}

export interface DocumentConditionGroup {
  filters?: DocumentFilter[];
  conditions?: DocumentConditionTree | null;
}

export interface DocumentConditionTree {
  logic: 'AND' | 'OR';
  groups: DocumentConditionGroup[];
}

export type ConditionTest = DocumentFilter | DocumentConditionTree | { expression: string };

export interface OtherwiseBlock {
  type: 'otherwise';
  content: Block[];
}

/** `otherwise` is its last child. */
export interface ConditionBlock {
  type: 'condition';
  attrs: { test: ConditionTest };
  content: (Block | OtherwiseBlock)[];
}

export interface RepeatBlock {
  type: 'repeat';
  attrs: { list: string; item: string; limit: number };
  content: Block[];
}

export interface FooterBlock {
  type: 'footer';
  attrs: { align: Align };
  content: ParagraphBlock[];
}

export interface SavedReference {
  type: 'saved';
  attrs: { blockId: string };
}

export interface HtmlBlock {
  type: 'html';
  attrs: { html: string };
}

export type Block =
  | HeadingBlock
  | ParagraphBlock
  | ListBlock
  | ImageBlock
  | ButtonBlock
  | ColumnsBlock
  | SectionBlock
  | DividerBlock
  | SpacerBlock
  | SocialBlock
  | ConditionBlock
  | RepeatBlock
  | FooterBlock
  | SavedReference
  | HtmlBlock;

export interface DocumentTheme {
  background: string | null;
  surface: string | null;
  text: string | null;
  link: string | null;
  button: string | null;
  font: string | null;
  width: 600;
}

export interface MailDocument {
  version: 1;
  lang: string;
  preheader: (TextNode | VariableNode)[];
  theme: DocumentTheme;
  content: Block[];
}

export interface BrandColors {
  background: string;
  surface: string;
  text: string;
  link: string;
  button: string;
  buttonText: string;
}

export interface BrandKit {
  logoUrl: string | null;
  colors: BrandColors;
  darkColors: BrandColors;
  font: string;
  headingFont: string;
  radius: number;
  address: string | null;
  socialLinks: SocialLink[];
}

export type SavedBlockKind = 'HEADER' | 'FOOTER' | 'SECTION';

/** A saved block, as far as documents need it. */
export interface SavedBlock {
  kind: SavedBlockKind;
  document: MailDocument;
}

/** The saved blocks that a document uses, by id. */
export type SavedBlocks = ReadonlyMap<string, SavedBlock>;

/** What a document breaks. `path` is dotted from the document, and empty for the document itself. */
export interface DocumentViolation {
  path: string;
  code: 'required' | 'invalid_type' | 'invalid_string' | 'too_small' | 'too_big' | 'invalid_enum' | 'custom';
  message: string;
}

export type DocumentWarningCode =
  | 'alt_missing'
  | 'contrast_low'
  | 'html_large'
  | 'unsubscribe_missing'
  | 'variable_unknown'
  | 'fallback_missing'
  | 'link_empty'
  | 'insecure_image'
  | 'image_large'
  | 'links_many'
  | 'preheader_missing'
  | 'text_thin'
  | 'html_cleaned';

export interface DocumentWarning {
  code: DocumentWarningCode;
  level: 'ERROR' | 'WARNING' | 'INFO';
  message: string;
  /** Dotted from the document; left out for what concerns the whole email. */
  path?: string;
  /** The name of a variable, a contrast, or what was removed. */
  detail?: string;
}
