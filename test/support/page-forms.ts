// The forms of our pages, read and sent as a browser without scripts does.

export interface PageForm {
  /** Where it is sent: `/manage/<token>`. */
  path: string;
  button: string;
  /** What it sends when nothing is touched. */
  fields: [string, string][];
}

const text = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name] ?? '').trim();
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const attribute = (tag: string, name: string): string => text(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/** Returns the forms of a page in their order. */
export function formsIn(html: string): PageForm[] {
  return [...html.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head = '', body = '']) => {
    const inputs = [...body.matchAll(/<input([^>]*)>/g)].map(([, tag = '']) => tag);
    const sent = inputs.filter((tag) => attribute(tag, 'type') !== 'checkbox' || /\schecked/.test(tag));
    const selects = [...body.matchAll(/<select([^>]*)>\s*<option value="([^"]*)"/g)];
    return {
      path: attribute(head, 'action').replace(/^\.\./, ''),
      button: text(/<button[^>]*>([\s\S]*?)<\/button>/.exec(body)?.[1] ?? ''),
      fields: [
        ...sent.map((tag): [string, string] => [attribute(tag, 'name'), attribute(tag, 'value')]),
        ...selects.map(([, tag = '', value = '']): [string, string] => [attribute(tag, 'name'), text(value)]),
      ],
    };
  });
}

/** Returns the form whose button has this text. */
export function formWith(html: string, button: string): PageForm {
  const form = formsIn(html).find((known) => known.button === button);
  if (!form) throw new Error(`no button "${button}" in: ${formsIn(html).map((known) => known.button)}`);
  return form;
}

/** The form with other values of some fields. */
export function filledIn(form: PageForm, changes: Record<string, string | string[]>): PageForm {
  const names = Object.keys(changes);
  const kept = form.fields.filter(([name]) => !names.includes(name));
  const added = names.flatMap((name) => [changes[name] ?? []].flat().map((value): [string, string] => [name, value]));
  return { ...form, fields: [...kept, ...added] };
}

export interface SentPage {
  status: number;
  body: string;
  headers: Headers;
}

export async function loadPage(url: string, headers: Record<string, string> = {}): Promise<SentPage> {
  const response = await fetch(url, { headers });
  return { status: response.status, body: await response.text(), headers: response.headers };
}

export async function sendForm(base: string, { path, fields }: Pick<PageForm, 'path' | 'fields'>): Promise<SentPage> {
  const response = await fetch(base + path, { method: 'POST', body: new URLSearchParams(fields) });
  return { status: response.status, body: await response.text(), headers: response.headers };
}
