/**
 * Nobody who means well nests deeper; what recurses over JSON (JSON.stringify does) overflows the stack some
 * thousands down.
 */
const deepest = 200;

/** Whether JSON of somebody else is nested so deeply that it could not be written again. */
export const tooDeep = (value: unknown, left = deepest): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some((each) => tooDeep(each, left - 1)));
