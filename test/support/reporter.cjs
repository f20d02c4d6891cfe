// CommonJS, because mocha loads reporters with `require`.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

/**
 * The usual tree of titles, and as the last line the two numbers that CI reads. With
 * `--reporter-option result=<file>` it writes them to a file instead, and `dev/test.ts` sums them up.
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
