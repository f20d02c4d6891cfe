/** Returns where a footer belongs: before `</body>`, or at the end. Searches backwards because the tag is nearly last. */
export function bodyEnd(html: string): number {
  for (let at = html.lastIndexOf('</'); at !== -1; at = at === 0 ? -1 : html.lastIndexOf('</', at - 1))
    if (html.startsWith('body', at + 2) || html.startsWith('BODY', at + 2)) return at;
  return html.length;
}
