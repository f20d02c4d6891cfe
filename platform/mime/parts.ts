import { type EncodedLineCache, encodeText, type MimeBuffer, type TransferEncoding } from './encoding.ts';
import type { PrecompiledText } from './precompiled-text.ts';

/** A precompiled body that many mails share. `Values` is what differs between them. */
export interface PrecompiledBody<Values> {
  html: PrecompiledText<Values>;
  text: PrecompiledText<Values> | undefined;
}

/** A text part of a mail. */
export interface MimePart {
  encoding: TransferEncoding;
  write(out: MimeBuffer): void;
}

export class TextPart implements MimePart {
  readonly encoding: TransferEncoding;
  private readonly text: string;

  constructor(content: string, known?: EncodedLineCache) {
    const { encoding, text } = encodeText(content, known);
    this.encoding = encoding;
    this.text = text;
  }

  write(out: MimeBuffer): void {
    out.ascii(this.text);
  }
}

export class PrecompiledPart<T> implements MimePart {
  readonly encoding = 'quoted-printable';
  private readonly text: PrecompiledText<T>;
  private readonly values: T;

  constructor(text: PrecompiledText<T>, values: T) {
    this.text = text;
    this.values = values;
  }

  write(out: MimeBuffer): void {
    this.text.write(out, this.values);
  }
}

export function writeBody(out: MimeBuffer, id: string, html: MimePart, text: MimePart | undefined): void {
  if (!text) {
    writePart(out, 'html', html);
    out.ascii('\r\n');
    return;
  }
  // Neither quoted-printable nor base64 can contain `=_`.
  const boundary = `=_${id}`;
  out.ascii(`Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n\r\n--${boundary}\r\n`);
  writePart(out, 'plain', text);
  out.ascii(`\r\n--${boundary}\r\n`);
  writePart(out, 'html', html);
  out.ascii(`\r\n--${boundary}--\r\n`);
}

function writePart(out: MimeBuffer, kind: 'plain' | 'html', part: MimePart): void {
  out.ascii(`Content-Type: text/${kind}; charset=utf-8\r\nContent-Transfer-Encoding: ${part.encoding}\r\n\r\n`);
  part.write(out);
}
