// QR codes of texts in byte mode with the lowest error correction (ISO/IEC 18004), versions 1 to 20: up to 858 bytes.

/** Codewords for error correction in each block, and the number of blocks, by version. */
const ECC_PER_BLOCK = [0, 7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28];
const BLOCKS = [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8];
const MAX_VERSION = 20;
/** The level L in the format bits. */
const FORMAT_LEVEL = 1;

const at = (values: readonly number[], index: number): number => values[index] ?? 0;

/** Returns rows of modules; true is dark. Throws when the text is too long. */
export function qrCode(text: string): boolean[][] {
  const bytes = [...new TextEncoder().encode(text)];
  const version = Array.from({ length: MAX_VERSION }, (_, n) => n + 1).find(
    (candidate) => 4 + countBits(candidate) + bytes.length * 8 <= dataCodewords(candidate) * 8,
  );
  if (version === undefined) throw new Error('The text is too long for a QR code.');
  const grid = new Grid(version);
  grid.drawData(withErrorCorrection(encode(bytes, version), version));
  return grid.masked();
}

const countBits = (version: number): number => (version < 10 ? 8 : 16);

/** Modules that are not taken by patterns, in bits. */
function rawModules(version: number): number {
  const all = (16 * version + 128) * version + 64;
  if (version < 2) return all;
  const alignments = Math.floor(version / 7) + 2;
  return all - ((25 * alignments - 10) * alignments - 55) - (version >= 7 ? 36 : 0);
}

const dataCodewords = (version: number): number =>
  Math.floor(rawModules(version) / 8) - at(ECC_PER_BLOCK, version) * at(BLOCKS, version);

function encode(bytes: number[], version: number): number[] {
  const bits: number[] = [];
  const append = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1);
  };
  append(4, 4);
  append(bytes.length, countBits(version));
  for (const byte of bytes) append(byte, 8);
  const capacity = dataCodewords(version) * 8;
  append(0, Math.min(4, capacity - bits.length));
  append(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < capacity; pad ^= 0xec ^ 0x11) append(pad, 8);
  return Array.from({ length: bits.length / 8 }, (_, byte) =>
    bits.slice(byte * 8, byte * 8 + 8).reduce((value, bit) => value * 2 + bit, 0),
  );
}

/** Multiplies in the field GF(2^8) with the polynomial of the standard. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product;
}

function generator(degree: number): number[] {
  const result: number[] = Array.from({ length: degree }, (_, n) => Number(n === degree - 1));
  let root = 1;
  for (let round = 0; round < degree; round++) {
    for (let n = 0; n < degree; n++)
      result[n] = multiply(at(result, n), root) ^ (n + 1 < degree ? at(result, n + 1) : 0);
    root = multiply(root, 2);
  }
  return result;
}

function remainder(data: number[], divisor: number[]): number[] {
  const result: number[] = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ (result.shift() ?? 0);
    result.push(0);
    divisor.forEach((coefficient, n) => {
      result[n] = at(result, n) ^ multiply(coefficient, factor);
    });
  }
  return result;
}

/** Splits the data into blocks, and interleaves them with their error correction. */
function withErrorCorrection(data: number[], version: number): number[] {
  const blocks = at(BLOCKS, version);
  const eccLength = at(ECC_PER_BLOCK, version);
  const all = Math.floor(rawModules(version) / 8);
  const shortLength = Math.floor(all / blocks) - eccLength;
  const shortBlocks = blocks - (all % blocks);
  const divisor = generator(eccLength);
  let start = 0;
  const parts = Array.from({ length: blocks }, (_, n) => {
    const part = data.slice(start, start + shortLength + (n < shortBlocks ? 0 : 1));
    start += part.length;
    return { part, ecc: remainder(part, divisor) };
  });
  const result: number[] = [];
  for (let n = 0; n <= shortLength; n++) for (const { part } of parts) if (n < part.length) result.push(at(part, n));
  for (let n = 0; n < eccLength; n++) for (const { ecc } of parts) result.push(at(ecc, n));
  return result;
}

const masks: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

class Grid {
  private readonly version: number;
  private readonly size: number;
  private readonly modules: boolean[][];
  /** Modules of patterns, which carry no data and are not masked. */
  private readonly fixed: boolean[][];

  constructor(version: number) {
    this.version = version;
    this.size = version * 4 + 17;
    const empty = () => Array.from({ length: this.size }, () => Array.from({ length: this.size }, () => false));
    this.modules = empty();
    this.fixed = empty();
    this.drawPatterns();
  }

  private set(x: number, y: number, dark: boolean): void {
    const row = this.modules[y];
    const fixedRow = this.fixed[y];
    if (!row || !fixedRow || x < 0 || x >= this.size) return;
    row[x] = dark;
    fixedRow[x] = true;
  }

  private drawPatterns(): void {
    const { size, version } = this;
    for (let n = 0; n < size; n++) {
      this.set(6, n, n % 2 === 0);
      this.set(n, 6, n % 2 === 0);
    }
    for (const [x, y] of [
      [3, 3],
      [size - 4, 3],
      [3, size - 4],
    ] as const)
      this.drawRings(x, y, 4, [0, 1, 3]);
    const places = this.alignmentPlaces();
    const last = places.length - 1;
    for (const [row, y] of places.entries())
      for (const [column, x] of places.entries()) {
        const isCorner =
          (row === 0 && column === 0) || (row === 0 && column === last) || (row === last && column === 0);
        if (!isCorner) this.drawRings(x, y, 2, [0, 2]);
      }
    this.drawFormat(0);
    if (version >= 7) this.drawVersion();
  }

  /** Squares around a centre: dark where the distance is one of `dark`. */
  private drawRings(centreX: number, centreY: number, radius: number, dark: number[]): void {
    for (let dy = -radius; dy <= radius; dy++)
      for (let dx = -radius; dx <= radius; dx++)
        this.set(centreX + dx, centreY + dy, dark.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  }

  private alignmentPlaces(): number[] {
    const { version, size } = this;
    if (version === 1) return [];
    const count = Math.floor(version / 7) + 2;
    const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
    const places = Array.from({ length: count - 1 }, (_, n) => size - 7 - n * step).reverse();
    return [6, ...places];
  }

  private drawFormat(mask: number): void {
    const data = (FORMAT_LEVEL << 3) | mask;
    let rest = data;
    for (let n = 0; n < 10; n++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const bits = ((data << 10) | rest) ^ 0x5412;
    const bit = (n: number) => ((bits >>> n) & 1) === 1;
    for (let n = 0; n <= 5; n++) this.set(8, n, bit(n));
    this.set(8, 7, bit(6));
    this.set(8, 8, bit(7));
    this.set(7, 8, bit(8));
    for (let n = 9; n < 15; n++) this.set(14 - n, 8, bit(n));
    for (let n = 0; n < 8; n++) this.set(this.size - 1 - n, 8, bit(n));
    for (let n = 8; n < 15; n++) this.set(8, this.size - 15 + n, bit(n));
    this.set(8, this.size - 8, true);
  }

  private drawVersion(): void {
    let rest = this.version;
    for (let n = 0; n < 12; n++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const bits = (this.version << 12) | rest;
    for (let n = 0; n < 18; n++) {
      const far = this.size - 11 + (n % 3);
      const near = Math.floor(n / 3);
      this.set(far, near, ((bits >>> n) & 1) === 1);
      this.set(near, far, ((bits >>> n) & 1) === 1);
    }
  }

  /** Fills the free modules in columns of two, from the right, upwards and downwards in turn. */
  drawData(codewords: number[]): void {
    let n = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      const upwards = ((right + 1) & 2) === 0;
      for (let step = 0; step < this.size; step++)
        for (const x of [right, right - 1]) {
          const y = upwards ? this.size - 1 - step : step;
          const row = this.modules[y];
          if (!row || this.fixed[y]?.[x] || n >= codewords.length * 8) continue;
          row[x] = ((at(codewords, n >>> 3) >>> (7 - (n & 7))) & 1) === 1;
          n++;
        }
    }
  }

  /** Returns the modules under the mask with the least penalty. */
  masked(): boolean[][] {
    const candidates = masks.map((mask, number) => {
      this.drawFormat(number);
      return this.modules.map((row, y) => row.map((dark, x) => (this.fixed[y]?.[x] ? dark : dark !== mask(x, y))));
    });
    const penalties = candidates.map(penalty);
    return candidates[penalties.indexOf(Math.min(...penalties))] ?? [];
  }
}

/** Dark and light like a finder pattern, which a reader could take for one. */
const finderLike = [/(?=00001011101)/g, /(?=10111010000)/g];

function penalty(modules: boolean[][]): number {
  const size = modules.length;
  const rows = modules.map((row) => row.map((dark) => (dark ? '1' : '0')).join(''));
  const columns = rows.map((_, x) => rows.map((row) => row[x]).join(''));
  let result = 0;
  for (const line of [...rows, ...columns]) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) result += run.length - 2;
    for (const pattern of finderLike) result += 40 * (line.match(pattern) ?? []).length;
  }
  for (let y = 0; y + 1 < size; y++)
    for (let x = 0; x + 1 < size; x++) {
      const colour = rows[y]?.[x];
      if (colour === rows[y]?.[x + 1] && colour === rows[y + 1]?.[x] && colour === rows[y + 1]?.[x + 1]) result += 3;
    }
  const dark = rows.join('').replaceAll('0', '').length;
  return result + 10 * Math.floor(Math.abs(dark * 20 - size * size * 10) / (size * size));
}
