// Preloaded into a process (CommonJS, for `--require`): plays a machine on which the disk of SMALL_DISK has 7 MB free.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const { statfsSync } = fs;
const { statfs } = fs.promises;
const small = { ...statfsSync('/'), blocks: 1_000, bavail: 7, bsize: 1024 ** 2 };
const isSmall = (path) => String(path).startsWith(process.env.SMALL_DISK);

fs.statfsSync = (path) => (isSmall(path) ? small : statfsSync(path));
fs.promises.statfs = async (path) => (isSmall(path) ? small : statfs(path));
syncBuiltinESMExports();
