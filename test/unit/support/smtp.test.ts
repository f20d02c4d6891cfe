import { expect } from 'chai';
import { createTransport } from 'nodemailer';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

describe('the SMTP stand-in', () => {
  let smtp: SmtpStandIn;

  beforeEach(async () => {
    smtp = await startSmtp();
  });

  afterEach(() => smtp.close());

  /** Sends one mail over its own connection and returns the answer or the error. */
  const send = async (
    to: string,
    timeoutMs = 60_000,
  ): Promise<{ response?: string; code?: number; error?: string }> => {
    const transport = createTransport({
      host: '127.0.0.1',
      port: smtp.port,
      socketTimeout: timeoutMs,
      ignoreTLS: true,
    });
    try {
      const sent = await transport.sendMail({
        from: 'Ann <ann@example.com>',
        to,
        subject: 'Grüße',
        text: 'Hallo\n.\nWelt',
        messageId: '<one@example.com>',
      });
      return { response: sent.response };
    } catch (error) {
      const { responseCode, message } = error as Error & { responseCode?: number };
      return { code: responseCode, error: message };
    } finally {
      transport.close();
    }
  };

  it('records envelope, bytes and Message-ID of accepted mails', async () => {
    expect((await send('Bob@example.com')).response).to.match(/^250/);
    const [mail] = await smtp.received(1, { to: 'bob@example.com' });
    expect(mail).to.include({ from: 'ann@example.com', messageId: '<one@example.com>' });
    expect(mail?.to).to.deep.equal(['bob@example.com']);
    expect(await mail?.parsed()).to.deep.include({ subject: 'Grüße', text: 'Hallo\n.\nWelt\n' });
  });

  it('rejects one recipient and accepts the others', async () => {
    smtp.misbehave({ at: 'recipient', to: 'bob@example.com', do: { code: 550, text: 'no such user' } });
    expect(await send('bob@example.com')).to.include({ code: 550 });
    expect((await send('eve@example.com')).response).to.match(/^250/);
    expect(smtp.mails.map(({ to }) => to)).to.deep.equal([['eve@example.com']]);
  });

  it('defers the given number of times', async () => {
    smtp.misbehave({ at: 'message', do: { code: 451 }, times: 2 });
    const codes = [await send('a@example.com'), await send('a@example.com'), await send('a@example.com')];
    expect(codes.map(({ code }) => code)).to.deep.equal([451, 451, undefined]);
    expect(smtp.mails).to.have.length(1);
  });

  it('hangs before or after it accepts the mail', async () => {
    smtp.misbehave({ at: 'message', do: 'hang', times: 1 });
    expect((await send('a@example.com', 150)).error).to.match(/timeout/i);
    expect(smtp.mails).to.have.length(0);
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 1 });
    let isAnswered = false;
    const sending = send('b@example.com').finally(() => {
      isAnswered = true;
    });
    await smtp.received(1, { to: 'b@example.com' });
    expect(isAnswered).to.equal(false);
    await smtp.close();
    expect(await sending).to.have.property('error');
  });

  it('resumes hanging connections when the failures are cleared', async () => {
    smtp.misbehave({ at: 'recipient', do: 'hang' });
    const sending = send('a@example.com');
    setTimeout(() => smtp.behave(), 50);
    expect((await sending).response).to.match(/^250/);
  });

  it('drops the connection after it accepted the mail', async () => {
    smtp.misbehave({ at: 'accepted', do: 'drop' });
    expect(await send('a@example.com')).to.have.property('error');
    expect(smtp.mails).to.have.length(1);
  });

  it('closes and reopens on the same port', async () => {
    await smtp.close();
    expect((await send('a@example.com')).error).to.contain('ECONNREFUSED');
    await smtp.reopen();
    expect((await send('a@example.com')).response).to.match(/^250/);
    expect(smtp.connections().total).to.equal(1);
  });
});
