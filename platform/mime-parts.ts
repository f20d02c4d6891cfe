import { encodeText, type KnownLines, type Scratch, type TransferEncoding } from './mime-body.ts';
import type { QuotedForm } from './quoted-form.ts';

/** The body of many mails. */
export interface MailForm<Filling> {
  html: QuotedForm<Filling>;
  text: QuotedForm<Filling> | undefined;
}

/** A text of a mail, encoded or about to be. */
export interface Part {
  encoding: TransferEncoding;
  write(out: Scratch): void;
}

export class TextPart implements Part {
  readonly encoding: TransferEncoding;
  private readonly text: string;

  constructor(content: string, known?: KnownLines) {
    const { encoding, text } = encodeText(content, known);
    this.encoding = encoding;
    this.text = text;
  }

  write(out: Scratch): void {
    out.ascii(this.text);
  }
}

export class FilledPart<T> implements Part {
  readonly encoding = 'quoted-printable';
  private readonly form: QuotedForm<T>;
  private readonly filling: T;

  constructor(form: QuotedForm<T>, filling: T) {
    this.form = form;
    this.filling = filling;
  }

  write(out: Scratch): void {
    this.form.write(out, this.filling);
  }
}

export function writeBody(out: Scratch, id: string, html: Part, text: Part | undefined): void {
  if (!text) {
    writePart(out, 'html', html);
    out.ascii('\r\n');
    return;
  }
  // `=_` cannot be part of quoted-printable, nor `_` of base64.
  const border = `=_${id}`;
  out.ascii(`Content-Type: multipart/alternative;\r\n boundary="${border}"\r\n\r\n--${border}\r\n`);
  writePart(out, 'plain', text);
  out.ascii(`\r\n--${border}\r\n`);
  writePart(out, 'html', html);
  out.ascii(`\r\n--${border}--\r\n`);
}

function writePart(out: Scratch, kind: 'plain' | 'html', part: Part): void {
  out.ascii(`Content-Type: text/${kind}; charset=utf-8\r\nContent-Transfer-Encoding: ${part.encoding}\r\n\r\n`);
  part.write(out);
}
