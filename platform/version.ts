/** That of package.json, which the built program does not contain. A test compares both. */
export const VERSION = '0.1.0';
