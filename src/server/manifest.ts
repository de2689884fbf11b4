/** Everything that can be offered. In the built package this module is replaced by the answer itself. */
export { publish as loadManifest } from './publish.ts';
