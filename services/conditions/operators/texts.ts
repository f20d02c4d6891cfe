/** A text search, as a LIKE pattern and in memory. */
export interface TextTest {
  pattern(part: string): string;
  matches(text: string, part: string): boolean;
}

const escapeLike = (part: string) => part.replace(/[\\%_]/g, '\\$&');

export const containsText: TextTest = {
  pattern: (part) => `%${escapeLike(part)}%`,
  matches: (text, part) => text.includes(part),
};

export const startsWithText: TextTest = {
  pattern: (part) => `${escapeLike(part)}%`,
  matches: (text, part) => text.startsWith(part),
};

export const endsWithText: TextTest = {
  pattern: (part) => `%${escapeLike(part)}`,
  matches: (text, part) => text.endsWith(part),
};
