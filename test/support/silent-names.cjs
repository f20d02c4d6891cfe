// Preloaded into a process (CommonJS, for `--require`): plays a machine whose name server is SILENT_NAMES_SERVER, and
// which gets no answer for names under `silent.example`. getaddrinfo waits for one in a thread of libuv's pool; opening
// SILENT_NAMES_FIFO, which nobody writes to, occupies such a thread as well.
const dns = require('node:dns');
const { open } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const { SILENT_NAMES_SERVER: server, SILENT_NAMES_FIFO: fifo } = process.env;
const isSilent = (host) => host.endsWith('.silent.example');
const { lookup } = dns;
const lookupPromise = dns.promises.lookup;

dns.promises.Resolver = class extends dns.promises.Resolver {
  constructor(options) {
    super(options);
    this.setServers([server]);
  }
};
dns.lookup = Object.defineProperties(
  (host, ...rest) => (isSilent(host) ? open(fifo, 'r', () => {}) : lookup(host, ...rest)),
  Object.getOwnPropertyDescriptors(lookup),
);
dns.promises.lookup = (host, options) =>
  isSilent(host) ? new Promise(() => open(fifo, 'r', () => {})) : lookupPromise(host, options);
syncBuiltinESMExports();
