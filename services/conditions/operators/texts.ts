/** Three ways of finding one text in another, as a LIKE pattern and as a test. */
export interface TextTest {
  pattern(part: string): string;
  holds(text: string, part: string): boolean;
}

const literal = (part: string) => part.replace(/[\\%_]/g, '\\$&');

export const contains: TextTest = {
  pattern: (part) => `%${literal(part)}%`,
  holds: (text, part) => text.includes(part),
};

export const startsWith: TextTest = {
  pattern: (part) => `${literal(part)}%`,
  holds: (text, part) => text.startsWith(part),
};

export const endsWith: TextTest = {
  pattern: (part) => `%${literal(part)}`,
  holds: (text, part) => text.endsWith(part),
};
