/** Where one writes what shall stand at the end of a mail. */
export function bodyEnd(html: string): number {
  const end = Math.max(html.lastIndexOf('</body'), html.lastIndexOf('</BODY'));
  return end === -1 ? html.length : end;
}
