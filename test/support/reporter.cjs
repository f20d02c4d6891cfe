// CommonJS, because mocha loads reporters with `require`.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

/**
 * The usual tree of sentences, and as the very last line the two numbers that CI looks for. One part of several
 * (`--reporter-option result=<file>`) writes them down instead, for `dev/test.ts` to add them up.
 */
module.exports = class CountingSpec extends reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes: passed, failures: failed } = this.stats;
    const { result } = this.options.reporterOptions ?? {};
    if (!result) return console.log(`${passed} passed, ${failed} failed`);
    const failures = this.failures.map((test) => test.titlePath().join(' > '));
    writeFileSync(result, JSON.stringify({ passed, failed, failures }));
  }
};
