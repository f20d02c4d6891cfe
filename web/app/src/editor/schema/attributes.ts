// Attributes of our nodes, and how they travel through the clipboard: as JSON in one HTML attribute.
import type { Attributes } from '@tiptap/core';

export const ATTRIBUTES = 'data-attrs';
export const BLOCK = 'data-block';

/** Declares attributes with the defaults of the document format. Nothing is written into the HTML one by one. */
export const attributes = (defaults: Record<string, unknown>): Attributes =>
  Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { default: value, rendered: false, parseHTML: (element: HTMLElement) => copiedValue(element, name, value) },
    ]),
  );

/** Returns the value that this editor wrote when it copied the node; pasted HTML of others has none. */
function copiedValue(element: HTMLElement, name: string, fallback: unknown): unknown {
  try {
    const values = JSON.parse(element.getAttribute(ATTRIBUTES) ?? '{}') as Record<string, unknown>;
    const value = values[name];
    const isOfKind = fallback === null ? value !== undefined : typeof value === typeof fallback;
    return isOfKind ? value : fallback;
  } catch {
    return fallback;
  }
}

export const htmlAttributes = (type: string, attrs: object, more: Record<string, string> = {}) => ({
  [BLOCK]: type,
  [ATTRIBUTES]: JSON.stringify(attrs),
  ...more,
  class: `block block-${type} ${more.class ?? ''}`.trim(),
});
