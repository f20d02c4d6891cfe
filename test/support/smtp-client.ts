import { createTransport } from 'nodemailer';

export interface RawMail {
  /** Empty for a report (RFC 5321). */
  from?: string;
  to: string[];
  raw: string | Buffer;
}

/** Submits a mail unchanged and returns the server's answer; a rejection is an error with `responseCode`. */
export async function submitMail(port: number, { from = '', to, raw }: RawMail): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  try {
    const { response } = await transport.sendMail({ envelope: { from, to }, raw });
    return response;
  } finally {
    transport.close();
  }
}
