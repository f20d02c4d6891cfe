// Encodes UUIDs as 16 bytes, which keeps tokens short.

export const ID_BYTES = 16;

export const bytesOf = (...ids: string[]): Buffer => Buffer.from(ids.join('').replaceAll('-', ''), 'hex');

export const idOf = (bytes: Buffer): string =>
  bytes.toString('hex', 0, ID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
