import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { RawHttp } from '../support/raw-http.ts';
import { lockTable, waitingForLocks } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

const MB = 1024 * 1024;
const good = { email: 'ann@example.com', event: 'x' };

describeApi('request bodies', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const track = (body: string, headers = {}) => project.browser.post('/v1/track', body, headers);
  const withData = (data: string) => track(`{"email":"ann@example.com","event":"x","data":${data}}`);

  describe('400 BAD_REQUEST', () => {
    for (const text of ['{', '{"a":1,}', "{'a':1}", 'nonsense', '{"a":1}}', '{"a":\u0001}', '{"email":"a@b.co"'])
      it(`on malformed JSON: ${JSON.stringify(text)}`, async () => {
        expect(await track(text)).to.be.envelope(400, 'BAD_REQUEST');
      });
  });

  describe('422', () => {
    for (const text of ['[]', '5', 'null', '"text"', '[{"email":"a@b.co"}]'])
      it(`on JSON that is not an object: ${text}`, async () => {
        expect(await track(text)).to.have.validationError('', 'invalid_type');
      });

    it('names each missing field when the body is empty', async () => {
      const answer = await track('');
      expect(answer).to.have.validationError('email', 'required').and.validationError('event', 'required');
    });

    it('on a NUL character, with the path to it', async () => {
      expect(await withData('{"a":[{"b":"x\\u0000y"}]}')).to.have.validationError('data.a.0.b', 'invalid_string');
    });

    it('on a NUL character in a key', async () => {
      const answer = await withData('{"a\\u0000b":1}');
      expect(answer).to.have.validationError('data.a\ufffdb', 'custom');
    });

    it('on a number beyond the range of a double, which would be stored as null', async () => {
      expect(await withData('{"a":[{"b":-1e999}]}')).to.have.validationError('data.a.0.b', 'too_big');
    });

    for (const half of ['\\ud800', '\\udc00', 'x\\ud83dy', '\\udc00\\ud800'])
      it(`on half of a surrogate pair: ${half}`, async () => {
        expect(await withData(`{"a":"${half}"}`)).to.have.validationError('data.a', 'invalid_string');
      });

    it('on half of a surrogate pair in a key', async () => {
      expect(await withData('{"\\ud800":1}')).to.have.validationError('data.\ufffd', 'custom');
    });

    it('accepts a complete surrogate pair, escaped or not', async () => {
      expect(await withData('{"a":"\\ud83d\\ude00","b":"😀"}')).to.have.status(200);
    });

    it('on __proto__ as a key, at any depth, escaped or not', async () => {
      expect(await withData('{"__proto__":{"admin":true}}')).to.have.validationError('data.__proto__', 'custom');
      expect(await withData('{"a":{"\\u005f_proto__":1}}')).to.have.validationError('data.a.__proto__', 'custom');
      expect(await track('{"__proto__":{"email":"a@b.co"},"event":"x"}')).to.have.validationError(
        '__proto__',
        'custom',
      );
    });

    it('on 65 levels of nesting, and accepts 64', async () => {
      // The body is the first level, `data` the second.
      const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
      expect(await withData(nested(63))).to.have.status(200);
      const answer = await withData(nested(64));
      expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(answer.body.error.errors[0].message).to.contain('64 levels');
    });

    it('on hundreds of thousands of nested arrays, and keeps serving', async () => {
      const depth = 500_000;
      const answer = await withData('['.repeat(depth) + ']'.repeat(depth));
      expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await track(JSON.stringify(good))).to.have.status(200);
    });

    it('on a million nested arrays on a route that accepts bodies of that size', async () => {
      const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
      const answer = await project.server.post('/v1/send', `{"to":"a@b.co","data":{"x":${deep}}}`);
      expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
    });

    it('lists at most 100 validation errors', async () => {
      const to = JSON.stringify(Array.from({ length: 900 }, () => 'nobody'));
      const answer = await project.server.post('/v1/send', `{"to":${to},"from":"a@b.co","subject":"s","body":"b"}`);
      expect(answer).to.have.validationError('to.0', 'invalid_string');
      expect(answer.body.error.errors).to.have.length(100);
    });
  });

  describe('415', () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'nonsense',
    ])
      it(`on ${type}, with the expected type`, async () => {
        const answer = await track(JSON.stringify(good), { 'content-type': type });
        expect(answer).to.be.envelope(415, 'BAD_REQUEST');
        expect(answer.body.error.message).to.contain('application/json').and.contain(type);
      });

    it('accepts application/json with a charset', async () => {
      const answer = await track(JSON.stringify(good), { 'content-type': 'application/json; charset=utf-8' });
      expect(answer).to.have.status(200);
    });

    for (const encoding of ['gzip', 'deflate', 'br', 'zstd'])
      it(`on a body encoded with ${encoding}`, async () => {
        expect(await track('{}', { 'content-encoding': encoding })).to.be.envelope(415, 'BAD_REQUEST');
      });

    it('on a truncated gzip bomb, and keeps serving', async () => {
      const bomb = gzipSync(Buffer.alloc(20 * MB, 32));
      bomb.fill(7, bomb.length - 12);
      const response = await fetch(`${api.url}/v1/track`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${project.publicKey}`,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body: bomb,
      });
      await response.text();
      expect(response.status).to.equal(415);
      expect(await api.get('/health')).to.have.status(200);
    });
  });

  describe('413', () => {
    const bodyOf = (bytes: number) => {
      // In an unknown field, so that only the size of the body counts.
      const frame = JSON.stringify({ ...good, padding: '' });
      return JSON.stringify({ ...good, padding: 'y'.repeat(bytes - frame.length) });
    };

    it('on one byte over 1 MiB, and accepts 1 MiB', async () => {
      expect(await track(bodyOf(MB))).to.have.status(200);
      expect(await track(bodyOf(MB + 1))).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    });

    it('on 50 MB, readable by a client that is still sending, which can reuse the connection', async () => {
      expect(await track(bodyOf(50 * MB))).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
      expect(await track(JSON.stringify(good))).to.have.status(200);
    });

    it('on 50 MB without a length before the body ends, and discards the rest', async () => {
      const raw = await RawHttp.open(api.url);
      raw.write(
        `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.publicKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const chunk = `${(MB).toString(16)}\r\n${' '.repeat(MB)}\r\n`;
      for (let i = 0; i < 3; i++) await raw.drained(chunk);
      const answer = await raw.answer();
      expect(answer.status).to.equal(413);
      expect(JSON.parse(answer.body).error.code).to.equal('PAYLOAD_TOO_LARGE');
      for (let i = 0; i < 47; i++) await raw.drained(chunk);
      raw.write('0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await raw.answer()).status).to.equal(200);
      raw.destroy();
    });

    it('on /v1/send only above MESSAGE_MAX_BYTES', async () => {
      const message = { to: 'a@b.co', from: `x@${project.senderDomain}`, subject: 's', body: 'b'.repeat(5 * MB) };
      expect(await project.server.post('/v1/send', message)).to.have.status(200);
      const tooLarge = { ...message, body: 'b'.repeat(41_943_040) };
      expect(await project.server.post('/v1/send', tooLarge)).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    });

    it('answers 401 before 413 when the key is missing', async () => {
      expect(await api.post('/v1/track', bodyOf(2 * MB))).to.be.envelope(401, 'INVALID_API_KEY');
    });
  });

  it('keeps serving after a client sends less than its Content-Length', async () => {
    const raw = await RawHttp.open(api.url);
    raw.write(
      `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.publicKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"`,
    );
    raw.end();
    await raw.closed();
    expect(await track(JSON.stringify(good))).to.have.status(200);
  });

  it('keeps serving after a client disconnects in the middle of its body', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.publicKey}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    socket.destroy();
    await once(socket, 'close');
    expect(await track(JSON.stringify(good))).to.have.status(200);
  });

  it('logs no error when a client disconnects before its body is read', async () => {
    const fresh = await api.project();
    const loggedBefore = api.logs.length;
    const trx = await api.db.transaction();
    await lockTable(trx, 'rate_windows');
    const raw = await RawHttp.open(api.url);
    raw.write(
      `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fresh.publicKey}\r\nX-Request-Id: gone\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    const waiting = () => waitingForLocks(api.db);
    await eventually(async () => (await waiting()).length > 0, { what: 'the request to wait' });
    raw.destroy();
    await raw.closed();
    await trx.commit();
    await eventually(() => api.logs.some(({ requestId, status }) => requestId === 'gone' && status === 400));
    expect(await fresh.browser.post('/v1/track', good)).to.have.status(200);
    expect(api.logs.slice(loggedBefore).filter(({ level }) => Number(level) >= 40)).to.deep.equal([]);
  });
});
