import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { createUploadStorage } from '../../../platform/storage/upload-storage.ts';
import { resetProject } from '../../../services/removal/project.ts';
import { removeUploads } from '../../../services/uploads/remove.ts';
import { type ApiProject, startTestApi, type TestApi } from '../../support/api.ts';
import { countRows } from '../../support/rows/tables.ts';
import { type S3StandIn, startS3 } from '../../support/s3.ts';

const chunk = (type: string, data: Buffer) =>
  Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a', 'hex'),
  Buffer.from('0000000d49484452', 'hex'),
  Buffer.from('00000001000000010802000000907753de', 'hex'),
  chunk('IDAT', deflateSync(Buffer.alloc(4))),
  chunk('IEND', Buffer.alloc(0)),
]);
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.from('ffd9', 'hex'),
]);
const webp = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from('1a000000', 'hex'),
  Buffer.from('WEBPVP8L'),
  Buffer.alloc(14),
]);
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const html = Buffer.from('<!doctype html><script>alert(1)</script>');

function upload(bytes: Buffer, { field = 'image', name = 'logo.png', type = 'image/png' } = {}): FormData {
  const form = new FormData();
  form.append(field, new File([new Uint8Array(bytes)], name, { type }));
  return form;
}

describe('uploads', () => {
  let api: TestApi;
  let project: ApiProject;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'everpost-uploads-'));
    api = await startTestApi({ env: { UPLOADS_DIR: join(folder, 'images') } });
    project = await api.project();
  });
  after(async () => {
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  const stored = () => readdirSync(join(folder, 'images'), { recursive: true });
  const see = async (url: string) => {
    const response = await fetch(url.replace('http://app.test', api.url));
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  for (const [name, bytes, contentType, extension] of [
    ['PNG', png, 'image/png', 'png'],
    ['JPEG', jpeg, 'image/jpeg', 'jpg'],
    ['GIF', gif, 'image/gif', 'gif'],
    ['WebP', webp, 'image/webp', 'webp'],
  ] as const)
    it(`accepts a ${name} and serves it publicly with headers that prevent other interpretations`, async () => {
      const answer = await project.server.post('/uploads/image', upload(bytes, { name: 'my logo.png' }));
      expect(answer).to.have.status(201);
      expect(answer.body).to.have.all.keys('url', 'key', 'filename', 'contentType', 'size');
      expect(answer.body).to.include({ filename: 'my logo.png', contentType, size: bytes.length });
      expect(answer.body.key).to.match(new RegExp(`^\\w{32}\\.${extension}$`));
      expect(answer.body.url).to.equal(`http://app.test/uploads/${answer.body.key}`);
      const { response, bytes: shown } = await see(answer.body.url);
      expect(response.status).to.equal(200);
      expect(shown.equals(bytes)).to.equal(true);
      expect(response.headers.get('content-type')).to.equal(contentType);
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(response.headers.get('content-security-policy')).to.contain('sandbox');
    });

  it('lists the images of the project only, newest first, in pages', async () => {
    const own = await api.project();
    const keys: string[] = [];
    for (const bytes of [png, gif, webp])
      keys.unshift((await own.server.post('/uploads/image', upload(bytes))).body.key);
    const first = await own.server.get('/uploads?limit=2');
    expect(first).to.have.status(200);
    const { data, cursor, hasMore, total } = first.body;
    expect(data.map(({ key }: { key: string }) => key)).to.deep.equal(keys.slice(0, 2));
    expect([hasMore, total]).to.deep.equal([true, 3]);
    expect(data[1]).to.include({
      url: `http://app.test/uploads/${keys[1]}`,
      contentType: 'image/gif',
      size: gif.length,
    });
    const second = await own.server.get(`/uploads?limit=2&cursor=${encodeURIComponent(cursor)}`);
    expect(second.body.data.map(({ key }: { key: string }) => key)).to.deep.equal(keys.slice(2));
    expect(second.body.hasMore).to.equal(false);
    expect(await own.server.get('/uploads?cursor=x')).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('accepts the field "file" too, and a session', async () => {
    const answer = await project.owner.post('/uploads/image', upload(gif, { field: 'file' }));
    expect(answer).to.have.status(201);
  });

  it('detects an image by its bytes despite another name', async () => {
    const answer = await project.server.post('/uploads/image', upload(gif, { name: 'x.html', type: 'text/html' }));
    expect(answer.body).to.include({ contentType: 'image/gif' });
    expect(answer.body.key).to.match(/\.gif$/);
  });

  it('rejects other content with 400 whatever type it claims', async () => {
    const before = stored().length;
    for (const bytes of [
      svg,
      html,
      Buffer.from('%PDF-1.7 '),
      Buffer.alloc(0),
      Buffer.from('GIF'),
      Buffer.from('GIF<script>alert(1)</script>'),
      Buffer.alloc(100),
    ])
      expect(await project.server.post('/uploads/image', upload(bytes))).to.be.envelope(400, 'BAD_REQUEST');
    expect(await project.server.post('/uploads/image', { image: 'x' })).to.be.envelope(400, 'BAD_REQUEST');
    expect(await project.server.post('/uploads/image', upload(gif, { field: 'other' }))).to.be.envelope(
      400,
      'BAD_REQUEST',
    );
    expect(stored()).to.have.length(before);
  });

  it('accepts 10 MB and rejects more with 413', async () => {
    const large = Buffer.concat([gif, Buffer.alloc(10 * 1024 * 1024 - gif.length)]);
    expect(await project.server.post('/uploads/image', upload(large))).to.have.status(201);
    const larger = Buffer.concat([large, Buffer.alloc(1)]);
    expect(await project.server.post('/uploads/image', upload(larger))).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
  });

  it('does not use file names that are paths', async () => {
    for (const [name, shown] of [
      ['../../../etc/passwd.png', 'passwd.png'],
      ['C:\\windows\\system32\\evil.png', 'evil.png'],
      ['a\u202egnp.exe', 'agnp.exe'],
    ] as const) {
      const { body } = await project.server.post('/uploads/image', upload(gif, { name }));
      expect(body.filename).to.equal(shown);
      expect(stored()).to.include(body.key);
    }
    expect(readdirSync(folder)).to.deep.equal(['images']);
  });

  it('answers 404 for invalid keys', async () => {
    for (const key of ['nothing.png', `${'a'.repeat(32)}.png`, '..%2f..%2fpackage.json', '%2e%2e', '.hidden', 'a/b'])
      expect(await api.get(`/uploads/${key}`), key).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
  });

  it('removes images with the data of their project', async () => {
    const other = await api.project();
    const { body } = await other.server.post('/uploads/image', upload(gif));
    await resetProject(api.db, other.id);
    expect(await api.get(`/uploads/${body.key}`)).to.have.status(404);
    await removeUploads(api.db, createUploadStorage({ folder: join(folder, 'images') }));
    expect(stored()).not.to.include(body.key);
    expect(await countRows(api.db, 'upload_removals')).to.equal(0);
  });

  describe('in a bucket', () => {
    let s3: S3StandIn;
    let bucket: TestApi;

    before(async () => {
      s3 = await startS3('our-bucket');
      bucket = await startTestApi({
        database: { db: api.db, url: api.databaseUrl, close: async () => {} },
        env: {
          S3_BUCKET: 'our-bucket',
          S3_REGION: 'eu-central-1',
          S3_ENDPOINT: s3.url,
          S3_ACCESS_KEY_ID: 'our-id',
          S3_SECRET_ACCESS_KEY: 'our-secret',
        },
      });
    });
    after(async () => {
      await bucket.stop();
      await s3.close();
    });

    const key = () => ({ authorization: `Bearer ${project.secretKey}` });

    it('stores, serves and removes images with signed requests', async () => {
      const answer = await bucket.post('/uploads/image', upload(png), key());
      expect(answer).to.have.status(201);
      const name: string = answer.body.key;
      expect(s3.objects.get(name)?.contentType).to.equal('image/png');
      expect(s3.objects.get(name)?.body.equals(png)).to.equal(true);
      const response = await fetch(`${bucket.url}/uploads/${name}`);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('image/png');
      expect(Buffer.from(await response.arrayBuffer()).equals(png)).to.equal(true);
      expect(s3.unsigned).to.equal(0);
      s3.objects.delete(name);
      expect(await bucket.get(`/uploads/${name}`)).to.have.status(404);
    });

    it('answers 502 EXTERNAL_SERVICE_ERROR while the bucket is unavailable and stores no row', async () => {
      s3.fault = 'down';
      const before = await countRows(api.db, 'uploads');
      expect(await bucket.post('/uploads/image', upload(png), key())).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
      expect(await countRows(api.db, 'uploads')).to.equal(before);
      s3.fault = undefined;
    });
  });
});

describe('upload quota', () => {
  let api: TestApi;
  let project: ApiProject;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'everpost-quota-'));
    const env = { UPLOADS_DIR: join(folder, 'images'), UPLOAD_BYTES_PER_PROJECT: String(png.length * 3) };
    api = await startTestApi({ env });
    project = await api.project();
  });
  after(async () => {
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  it('rejects uploads above the quota with 413, also of five concurrent ones, and keeps no bytes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => project.server.post('/uploads/image', upload(png))),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 201, 201, 413, 413]);
    const refused = await project.server.post('/uploads/image', upload(gif));
    expect(refused).to.have.status(413);
    expect(refused.body.error.code).to.equal('PAYLOAD_TOO_LARGE');
    await removeUploads(api.db, createUploadStorage({ folder: join(folder, 'images') }));
    expect(readdirSync(join(folder, 'images'))).to.have.lengthOf(3);
  });

  it('counts each project separately', async () => {
    const other = await api.project();
    expect(await other.server.post('/uploads/image', upload(png))).to.have.status(201);
  });

  it('starts from zero after a reset', async () => {
    await resetProject(api.db, project.id);
    expect(await project.server.post('/uploads/image', upload(png))).to.have.status(201);
  });
});
