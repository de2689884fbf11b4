/** Wherever some program takes a line to end: pip does so with more than others. */
export const lineEnds = /\r\n|[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/;
