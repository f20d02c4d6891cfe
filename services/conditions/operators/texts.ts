/** A text search, as a LIKE pattern and in memory. */
export interface TextTest {
  pattern(part: string): string;
  matches(text: string, part: string): boolean;
}

const escapeLike = (part: string) => part.replace(/[\\%_]/g, '\\$&');

export const contains: TextTest = {
  pattern: (part) => `%${escapeLike(part)}%`,
  matches: (text, part) => text.includes(part),
};

export const startsWith: TextTest = {
  pattern: (part) => `${escapeLike(part)}%`,
  matches: (text, part) => text.startsWith(part),
};

export const endsWith: TextTest = {
  pattern: (part) => `%${escapeLike(part)}`,
  matches: (text, part) => text.endsWith(part),
};
