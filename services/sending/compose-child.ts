// The entry of a compose process. It has no environment and limited memory, and can be killed at any time.
import { serveParent } from './compose-worker.ts';

serveParent();
