/** Everything that can be offered. In the built package this module is replaced by the answer itself. */
export { buildCatalogue as loadManifest } from './build-catalogue.ts';
