// A launcher that has chosen a port and does not listen on it yet.
import { portOrFree } from '../../dev/ports.ts';

const port = await portOrFree('the worker', Number(process.argv[2]), () => {});
process.send?.(port);
// Holds it until the parent disconnects.
process.on('disconnect', () => process.exit(0));
